import { ReasonCode } from '../../src/mqtt/reasonCodes.ts';

export interface BadPacket {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly reasonCode: number;
}

/** A packet from its first byte and its body; the remaining length is put between them. */
export function packet(firstByte: number, ...body: (number | readonly number[])[]): Uint8Array {
  const flat = body.flat();
  if (flat.length > 127) throw new Error('one length byte only');
  return Uint8Array.from([firstByte, flat.length, ...flat]);
}

/** An MQTT string: two length bytes and UTF-8. */
export function text(value: string): number[] {
  const bytes = [...Buffer.from(value)];
  return [bytes.length >> 8, bytes.length & 0xff, ...bytes];
}

const id = [0, 7];
const none = 0;
const topic = text('ping');
const { MalformedPacket, ProtocolError } = ReasonCode;

function bad(name: string, reasonCode: number, bytes: Uint8Array): BadPacket {
  return { name, bytes, reasonCode };
}

/** One packet for each rule that a client can break after it is connected. */
export const badPackets: readonly BadPacket[] = [
  bad('packet type 0', MalformedPacket, packet(0x00)),
  bad('a CONNACK from a client', MalformedPacket, packet(0x20, 0, 0, none)),
  bad('a SUBACK from a client', MalformedPacket, packet(0x90, id, none, 0)),
  bad('an UNSUBACK from a client', MalformedPacket, packet(0xb0, id, none, 0)),
  bad('a PINGRESP from a client', MalformedPacket, packet(0xd0)),
  bad('remaining length without end', MalformedPacket, Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0xff)),
  bad('remaining length too wide', MalformedPacket, Uint8Array.of(0xc0, 0x80, 0x00)),
  bad('a packet beyond the size limit', ReasonCode.PacketTooLarge, Uint8Array.of(0x30, 0x80, 0x80, 0x20)),
  bad('PINGREQ with a body', MalformedPacket, packet(0xc0, 0)),
  bad('PINGREQ with flags', MalformedPacket, packet(0xc1)),
  bad('a second CONNECT', ProtocolError, packet(0x10, text('MQTT'), 5, 2, 0, 9, none, text('x'))),
  bad('AUTH', ProtocolError, packet(0xf0, 0x18, none)),
  bad('PUBREC', ProtocolError, packet(0x50, id)),
  bad('PUBREL', ProtocolError, packet(0x62, id)),
  bad('PUBCOMP', ProtocolError, packet(0x70, id)),

  bad('PUBLISH with QoS 3', MalformedPacket, packet(0x36, topic, id, none)),
  bad('PUBLISH with QoS 2', ReasonCode.QosNotSupported, packet(0x34, topic, id, none)),
  bad('PUBLISH with RETAIN', ReasonCode.RetainNotSupported, packet(0x31, topic, none)),
  bad('PUBLISH with DUP and QoS 0', MalformedPacket, packet(0x38, topic, none)),
  bad('PUBLISH with packet identifier 0', ProtocolError, packet(0x32, topic, 0, 0, none)),
  bad('PUBLISH that ends in its packet identifier', MalformedPacket, packet(0x32, topic, 0)),
  bad('PUBLISH without properties', MalformedPacket, packet(0x30, topic)),
  bad('PUBLISH without a body', MalformedPacket, packet(0x30)),
  bad('a topic longer than its packet', MalformedPacket, packet(0x30, 0, 50, 0x61)),
  bad('an empty topic', ProtocolError, packet(0x30, text(''), none)),
  bad('a wildcard in a topic name', ReasonCode.TopicNameInvalid, packet(0x30, text('user/#'), none)),
  bad('a topic with U+0000', MalformedPacket, packet(0x30, text('a\u0000b'), none)),
  bad('a topic with a lone continuation byte', MalformedPacket, packet(0x30, 0, 1, 0x80, none)),
  bad('a topic with an overlong encoding', MalformedPacket, packet(0x30, 0, 2, 0xc0, 0xaf, none)),
  bad('a topic with a surrogate', MalformedPacket, packet(0x30, 0, 3, 0xed, 0xa0, 0x80, none)),
  bad('a topic that ends inside a character', MalformedPacket, packet(0x30, 0, 3, 0xf0, 0x9f, 0x98, none)),
  bad('a topic alias', ReasonCode.TopicAliasInvalid, packet(0x30, topic, 3, 0x23, 0, 1)),
  bad('PUBLISH with a subscription identifier', ProtocolError, packet(0x30, topic, 2, 0x0b, 1)),
  bad('subscription identifier 0', ProtocolError, packet(0x30, topic, 2, 0x0b, 0)),
  bad('an unknown property', MalformedPacket, packet(0x30, topic, 2, 0x7e, 1)),
  bad("another packet's property", MalformedPacket, packet(0x30, topic, 3, 0x21, 0, 1)),
  bad('a repeated property', ProtocolError, packet(0x30, topic, 4, 0x01, 0, 0x01, 0)),
  bad('a payload format of 2', ProtocolError, packet(0x30, topic, 2, 0x01, 2)),
  bad('a property that ends early', MalformedPacket, packet(0x30, topic, 2, 0x02, 0)),
  bad('properties longer than their packet', MalformedPacket, packet(0x30, topic, 9, 0x01, 0)),
  bad('a property length too wide', MalformedPacket, packet(0x30, topic, 0x80, 0x00)),
  bad('a property length without end', MalformedPacket, packet(0x30, topic, 0xff, 0xff, 0xff, 0xff, 1)),
  bad('half a user property', MalformedPacket, packet(0x30, topic, 4, 0x26, text('a'))),

  bad('PUBACK with packet identifier 0', ProtocolError, packet(0x40, 0, 0)),
  bad('PUBACK without packet identifier', MalformedPacket, packet(0x40)),
  bad('PUBACK with an unknown reason', MalformedPacket, packet(0x40, id, 0x55)),
  bad('PUBACK with bytes after its end', MalformedPacket, packet(0x40, id, 0, none, 1)),
  bad('PUBACK with flags', MalformedPacket, packet(0x42, id)),

  bad('SUBSCRIBE with wrong flags', MalformedPacket, packet(0x80, id, none, topic, 0)),
  bad('SUBSCRIBE with packet identifier 0', ProtocolError, packet(0x82, 0, 0, none, topic, 0)),
  bad('SUBSCRIBE without a filter', ProtocolError, packet(0x82, id, none)),
  bad('SUBSCRIBE without options', MalformedPacket, packet(0x82, id, none, topic)),
  bad('SUBSCRIBE with QoS 3', ProtocolError, packet(0x82, id, none, topic, 3)),
  bad('SUBSCRIBE with retain handling 3', ProtocolError, packet(0x82, id, none, topic, 0x30)),
  bad('SUBSCRIBE with reserved options', MalformedPacket, packet(0x82, id, none, topic, 0x40)),
  bad('No Local on a shared filter', ProtocolError, packet(0x82, id, none, text('$share/a/b'), 0x04)),
  bad(
    'SUBSCRIBE with a subscription identifier',
    ReasonCode.SubscriptionIdentifiersNotSupported,
    packet(0x82, id, 2, 0x0b, 1, topic, 0),
  ),
  bad('UNSUBSCRIBE with wrong flags', MalformedPacket, packet(0xa0, id, none, topic)),
  bad('UNSUBSCRIBE without a filter', ProtocolError, packet(0xa2, id, none)),
  bad('UNSUBSCRIBE with half a filter', MalformedPacket, packet(0xa2, id, none, 0, 9, 0x61)),

  bad('DISCONNECT with an unknown reason', MalformedPacket, packet(0xe0, 0x55)),
  bad("DISCONNECT with a server's reason", MalformedPacket, packet(0xe0, 0x8b)),
  bad('DISCONNECT with a session expiry', ProtocolError, packet(0xe0, 0, 5, 0x11, 0, 0, 0, 1)),
  bad('DISCONNECT with flags', MalformedPacket, packet(0xe1)),
];

const mqtt = text('MQTT');
const aliveAndClient = [0, 9, none, text('x')].flat();

/** One CONNECT for each rule that it can break; the reason code is CONNACK's. */
export const badConnects: readonly BadPacket[] = [
  bad('MQTT 3.1.1', ReasonCode.UnsupportedProtocolVersion, packet(0x10, mqtt, 4, 2, 0, 9, text('x'))),
  bad('MQTT 3.1', ReasonCode.UnsupportedProtocolVersion, packet(0x10, text('MQIsdp'), 3, 2, 0, 9, text('x'))),
  bad('MQTT 6', ReasonCode.UnsupportedProtocolVersion, packet(0x10, mqtt, 6, 2, aliveAndClient)),
  bad(
    'another protocol',
    ReasonCode.UnsupportedProtocolVersion,
    packet(0x10, text('HTTP'), 5, 2, aliveAndClient),
  ),
  bad('an empty CONNECT', MalformedPacket, packet(0x10)),
  bad('CONNECT with header flags', MalformedPacket, packet(0x12, mqtt, 5, 2, aliveAndClient)),
  bad('the reserved connect flag', MalformedPacket, packet(0x10, mqtt, 5, 3, aliveAndClient)),
  bad('will QoS without a will', MalformedPacket, packet(0x10, mqtt, 5, 0x0a, aliveAndClient)),
  bad('will retain without a will', MalformedPacket, packet(0x10, mqtt, 5, 0x22, aliveAndClient)),
  bad('will QoS 3', MalformedPacket, packet(0x10, mqtt, 5, 0x1e, aliveAndClient, none, text('a'), text('b'))),
  bad(
    'a will',
    ReasonCode.TopicNameInvalid,
    packet(0x10, mqtt, 5, 0x06, aliveAndClient, none, text('a'), text('b')),
  ),
  bad('a will that is missing', MalformedPacket, packet(0x10, mqtt, 5, 0x06, aliveAndClient)),
  bad('a user name that is missing', MalformedPacket, packet(0x10, mqtt, 5, 0x82, aliveAndClient)),
  bad('a password that is missing', MalformedPacket, packet(0x10, mqtt, 5, 0x42, aliveAndClient)),
  bad('bytes after the end of CONNECT', MalformedPacket, packet(0x10, mqtt, 5, 2, aliveAndClient, 1)),
  bad('no client identifier', MalformedPacket, packet(0x10, mqtt, 5, 2, 0, 9, none)),
  bad('no Clean Start', ReasonCode.ImplementationSpecificError, packet(0x10, mqtt, 5, 0, aliveAndClient)),
  bad(
    'a session expiry',
    ReasonCode.ImplementationSpecificError,
    packet(0x10, mqtt, 5, 2, 0, 9, 5, 0x11, 0, 0, 0, 1, text('x')),
  ),
  bad(
    'a Maximum Packet Size too small for an acknowledgement',
    ReasonCode.ImplementationSpecificError,
    packet(0x10, mqtt, 5, 2, 0, 9, 5, 0x27, 0, 0, 0, 9, text('x')),
  ),
  bad('Maximum Packet Size 0', ProtocolError, packet(0x10, mqtt, 5, 2, 0, 9, 5, 0x27, 0, 0, 0, 0, text('x'))),
  bad('Receive Maximum 0', ProtocolError, packet(0x10, mqtt, 5, 2, 0, 9, 3, 0x21, 0, 0, text('x'))),
  bad(
    'an authentication method',
    ReasonCode.BadAuthenticationMethod,
    packet(0x10, mqtt, 5, 2, 0, 9, 4, 0x15, text('a'), text('x')),
  ),
  bad(
    'authentication data without a method',
    ProtocolError,
    packet(0x10, mqtt, 5, 2, 0, 9, 4, 0x16, text('a'), text('x')),
  ),
  bad('no token', ReasonCode.NotAuthorized, packet(0x10, mqtt, 5, 2, aliveAndClient)),
  bad(
    'two tokens',
    ReasonCode.NotAuthorized,
    packet(
      0x10,
      [mqtt, 5, 2, 0, 9, 22].flat(),
      [0x26, text('token'), text('a')].flat(),
      [0x26, text('token'), text('a')].flat(),
      text('x'),
    ),
  ),
  bad(
    'a token that is not ours',
    ReasonCode.NotAuthorized,
    packet(0x10, mqtt, 5, 2, 0, 9, 11, 0x26, text('token'), text('a'), text('x')),
  ),
];
