import { ByteReader } from './byteReader.ts';
import type { Frame } from './frames.ts';
import { allowedProperties, type Properties, readProperties } from './properties.ts';
import { malformed, PacketError, protocolError, ReasonCode } from './reasonCodes.ts';

export interface ConnectPacket {
  readonly type: 'connect';
  readonly cleanStart: boolean;
  /** Seconds; 0 asks for none. */
  readonly keepAlive: number;
  readonly clientId: string;
  readonly hasWill: boolean;
  readonly properties: Properties;
}

export interface PublishPacket {
  readonly type: 'publish';
  readonly qos: 0 | 1;
  /** 0 with QoS 0, which has none. */
  readonly packetId: number;
  readonly topic: string;
  readonly payload: Uint8Array;
}

export interface SubscribePacket {
  readonly type: 'subscribe';
  readonly packetId: number;
  readonly subscriptions: readonly { readonly filter: string; readonly qos: 0 | 1 | 2 }[];
}

export interface UnsubscribePacket {
  readonly type: 'unsubscribe';
  readonly packetId: number;
  readonly filters: readonly string[];
}

export type ClientPacket =
  | ConnectPacket
  | PublishPacket
  | SubscribePacket
  | UnsubscribePacket
  | { readonly type: 'puback'; readonly packetId: number }
  | { readonly type: 'pingreq' }
  | { readonly type: 'disconnect' };

/** Control packet types (MQTT 5 section 2.1.2). */
export const packetType = {
  connect: 1,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  unsubscribe: 10,
  pingreq: 12,
  disconnect: 14,
  auth: 15,
} as const;

const protocolVersion = 5;

const pubackReasonCodes: ReadonlySet<number> = new Set([
  0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99,
]);

/** The Disconnect Reason Codes that a client may send (MQTT 5 table 3-10). */
const disconnectReasonCodes: ReadonlySet<number> = new Set([
  0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99,
]);

/**
 * Decodes one packet of a client, strictly: every byte is accounted for, and only what MQTT 5 allows a client to
 * send to a server that offers QoS 1, no retain, no topic aliases and no subscription identifiers is let through.
 *
 * mqtt-packet's own parser isn't used here: it reads past a packet's end into the next one, keeps a packet of any
 * announced size waiting in memory, and lets ill-formed UTF-8, repeated and misplaced properties, packet id 0 and
 * trailing bytes pass. A test holds that both read the same from every packet that mqtt-packet writes.
 *
 * @throws PacketError with the reason code to end the connection with
 */
export function decodePacket(frame: Frame): ClientPacket {
  const reader = new ByteReader(frame.body);
  const packet = decodeBody(frame, reader);
  reader.end();
  return packet;
}

function decodeBody(frame: Frame, reader: ByteReader): ClientPacket {
  switch (frame.type) {
    case packetType.connect:
      requireFlags(frame, 0b0000);
      return decodeConnect(reader);
    case packetType.publish:
      return decodePublish(frame.flags, reader);
    case packetType.puback:
      requireFlags(frame, 0b0000);
      return decodePuback(reader);
    case packetType.subscribe:
      requireFlags(frame, 0b0010);
      return decodeSubscribe(reader);
    case packetType.unsubscribe:
      requireFlags(frame, 0b0010);
      return decodeUnsubscribe(reader);
    case packetType.pingreq:
      requireFlags(frame, 0b0000);
      return { type: 'pingreq' };
    case packetType.disconnect:
      requireFlags(frame, 0b0000);
      return decodeDisconnect(reader);
    case packetType.pubrec:
    case packetType.pubrel:
    case packetType.pubcomp:
      throw protocolError('there is no QoS 2 here');
    case packetType.auth:
      throw protocolError('AUTH without an authentication method');
    default:
      throw malformed('not a packet that a client sends');
  }
}

function requireFlags(frame: Frame, flags: number): void {
  if (frame.flags !== flags) throw malformed('reserved header flags');
}

function nonZeroPacketId(reader: ByteReader): number {
  const packetId = reader.twoByteInteger();
  if (packetId === 0) throw protocolError('packet identifier is 0');
  return packetId;
}

/** Section 3.1. Name and version come first: the rest of another version's CONNECT can't be read. */
function decodeConnect(reader: ByteReader): ConnectPacket {
  if (reader.utf8String() !== 'MQTT' || reader.byte() !== protocolVersion) {
    throw new PacketError(ReasonCode.UnsupportedProtocolVersion, 'not MQTT 5');
  }
  const flags = reader.byte();
  const hasWill = (flags & 0x04) !== 0;
  const willQos = (flags >> 3) & 0b11;
  const willRetain = (flags & 0x20) !== 0;
  if ((flags & 0x01) !== 0) throw malformed('reserved connect flag');
  if (willQos === 3 || (!hasWill && (willQos !== 0 || willRetain))) throw malformed('will flags');
  const keepAlive = reader.twoByteInteger();
  const properties = readProperties(reader, allowedProperties.connect);
  if (properties.authenticationData !== undefined && properties.authenticationMethod === undefined) {
    throw protocolError('authentication data without a method');
  }
  const clientId = reader.utf8String();
  if (hasWill) {
    readProperties(reader, allowedProperties.will);
    reader.utf8String();
    reader.binaryData();
  }
  if ((flags & 0x80) !== 0) reader.utf8String();
  if ((flags & 0x40) !== 0) reader.binaryData();
  return { type: 'connect', cleanStart: (flags & 0x02) !== 0, keepAlive, clientId, hasWill, properties };
}

/** Section 3.3. */
function decodePublish(flags: number, reader: ByteReader): PublishPacket {
  const qos = (flags >> 1) & 0b11;
  if (qos === 3) throw malformed('QoS 3');
  if (qos === 0 && (flags & 0x08) !== 0) throw malformed('DUP with QoS 0');
  if (qos === 2) throw new PacketError(ReasonCode.QosNotSupported, 'QoS 2');
  if ((flags & 0x01) !== 0) throw new PacketError(ReasonCode.RetainNotSupported, 'RETAIN');
  const topic = reader.utf8String();
  const packetId = qos === 0 ? 0 : nonZeroPacketId(reader);
  const properties = readProperties(reader, allowedProperties.publish);
  if (properties.subscriptionIdentifier !== undefined) throw protocolError('subscription identifier');
  if (properties.topicAlias !== undefined) {
    throw new PacketError(ReasonCode.TopicAliasInvalid, 'topic alias beyond the maximum of 0');
  }
  if (topic === '') throw protocolError('no topic name');
  if (/[+#]/.test(topic)) throw new PacketError(ReasonCode.TopicNameInvalid, 'wildcard in a topic name');
  return { type: 'publish', qos: qos === 0 ? 0 : 1, packetId, topic, payload: reader.rest() };
}

/** Section 3.4: the reason code and the properties may be left out. */
function decodePuback(reader: ByteReader): ClientPacket {
  const packetId = nonZeroPacketId(reader);
  if (reader.remaining > 0 && !pubackReasonCodes.has(reader.byte())) throw malformed('PUBACK reason code');
  if (reader.remaining > 0) readProperties(reader, allowedProperties.puback);
  return { type: 'puback', packetId };
}

/** Section 3.8. */
function decodeSubscribe(reader: ByteReader): SubscribePacket {
  const packetId = nonZeroPacketId(reader);
  const properties = readProperties(reader, allowedProperties.subscribe);
  if (properties.subscriptionIdentifier !== undefined) {
    throw new PacketError(ReasonCode.SubscriptionIdentifiersNotSupported, 'subscription identifier');
  }
  if (reader.remaining === 0) throw protocolError('no topic filter');
  const subscriptions: SubscribePacket['subscriptions'][number][] = [];
  while (reader.remaining > 0) {
    const filter = reader.utf8String();
    const options = reader.byte();
    if ((options & 0xc0) !== 0) throw malformed('reserved subscription options');
    const qos = options & 0b11;
    const noLocal = (options & 0x04) !== 0;
    if (((options >> 4) & 0b11) === 3) throw protocolError('retain handling 3');
    if (noLocal && filter.startsWith('$share/')) throw protocolError('No Local on a shared subscription');
    if (qos !== 0 && qos !== 1 && qos !== 2) throw protocolError('subscription QoS 3');
    subscriptions.push({ filter, qos });
  }
  return { type: 'subscribe', packetId, subscriptions };
}

/** Section 3.10. */
function decodeUnsubscribe(reader: ByteReader): UnsubscribePacket {
  const packetId = nonZeroPacketId(reader);
  readProperties(reader, allowedProperties.unsubscribe);
  if (reader.remaining === 0) throw protocolError('no topic filter');
  const filters: string[] = [];
  while (reader.remaining > 0) filters.push(reader.utf8String());
  return { type: 'unsubscribe', packetId, filters };
}

/** Section 3.14. The Session Expiry Interval was 0 at CONNECT, so nothing else may be asked for now. */
function decodeDisconnect(reader: ByteReader): ClientPacket {
  if (reader.remaining > 0 && !disconnectReasonCodes.has(reader.byte())) {
    throw malformed('DISCONNECT reason code');
  }
  if (reader.remaining > 0) {
    const properties = readProperties(reader, allowedProperties.disconnect);
    if ((properties.sessionExpiryInterval ?? 0) !== 0) throw protocolError('session expiry at DISCONNECT');
  }
  return { type: 'disconnect' };
}
