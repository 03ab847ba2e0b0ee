import { generate, type Packet } from 'mqtt-packet';
import { type ReasonCode } from './reasonCodes.ts';

/** The properties of a CONNACK that accepts a client (MQTT 5 section 3.2.2.3). */
export interface ConnackProperties {
  readonly receiveMaximum: number;
  readonly maximumQoS: number;
  readonly retainAvailable: boolean;
  readonly maximumPacketSize: number;
  readonly wildcardSubscriptionAvailable: boolean;
  readonly subscriptionIdentifiersAvailable: boolean;
  readonly sharedSubscriptionAvailable: boolean;
  readonly serverKeepAlive?: number;
  readonly assignedClientIdentifier?: string;
}

export type UserProperties = Readonly<Record<string, string>>;

function encode(packet: Packet): Buffer {
  return generate(packet, { protocolVersion: 5 });
}

export function encodeConnack(
  reasonCode: ReasonCode,
  properties?: ConnackProperties | { readonly userProperties: UserProperties },
): Buffer {
  return encode({
    cmd: 'connack',
    sessionPresent: false,
    reasonCode,
    ...(properties === undefined ? {} : { properties }),
  });
}

/** A PUBLISH packet of either QoS, made when it is first needed. */
interface EncodedPublish {
  readonly topic: string;
  readonly payload: string;
  qos0: Buffer | null;
  /** The packet as it went to the first connection, with its packet identifier. */
  qos1: Buffer | null;
}

/** Kept because one PUBLISH goes to many connections in a row, and differs by its packet identifier alone. */
let lastPublish: EncodedPublish = { topic: '', payload: '', qos0: null, qos1: null };

/** @param packetId of a QoS 1 delivery; absent for QoS 0 */
export function encodePublish(topic: string, payload: string, packetId?: number): Buffer {
  if (lastPublish.payload !== payload || lastPublish.topic !== topic)
    lastPublish = { topic, payload, qos0: null, qos1: null };
  if (packetId === undefined) {
    lastPublish.qos0 ??= publishPacket(topic, payload, null);
    return lastPublish.qos0;
  }
  if (lastPublish.qos1 === null) {
    lastPublish.qos1 = publishPacket(topic, payload, packetId);
    return lastPublish.qos1;
  }
  const packet = Buffer.from(lastPublish.qos1);
  packet.writeUInt16BE(packetId, packet.length - Buffer.byteLength(payload) - 3);
  return packet;
}

/** MQTT 5 section 3.3, without properties. @param packetId null for QoS 0 */
function publishPacket(topic: string, payload: string, packetId: number | null): Buffer {
  const topicLength = Buffer.byteLength(topic);
  const payloadLength = Buffer.byteLength(payload);
  const packetIdLength = packetId === null ? 0 : 2;
  const length = 2 + topicLength + packetIdLength + 1 + payloadLength;
  const writer = new PacketWriter(packetId === null ? 0x30 : 0x32, length);
  writer.utf8String(topic, topicLength);
  if (packetId !== null) writer.twoByteInteger(packetId);
  writer.variableByteInteger(0);
  writer.text(payload);
  return writer.packet;
}

const userProperty = 0x26;

/** MQTT 5 section 3.4. */
export function encodePuback(
  packetId: number,
  reasonCode: ReasonCode,
  userProperties: UserProperties,
): Buffer {
  let propertiesLength = 0;
  for (const name in userProperties) {
    propertiesLength += 5 + Buffer.byteLength(name) + Buffer.byteLength(userProperties[name] ?? '');
  }
  const length = 3 + lengthOfVariableByteInteger(propertiesLength) + propertiesLength;
  const writer = new PacketWriter(0x40, length);
  writer.twoByteInteger(packetId);
  writer.byte(reasonCode);
  writer.variableByteInteger(propertiesLength);
  for (const name in userProperties) {
    const value = userProperties[name] ?? '';
    writer.byte(userProperty);
    writer.utf8String(name, Buffer.byteLength(name));
    writer.utf8String(value, Buffer.byteLength(value));
  }
  return writer.packet;
}

/** Writes the data types of MQTT 5 section 1.5 into one packet, whose length is known from the start. */
class PacketWriter {
  readonly packet: Buffer;
  #position = 0;

  /** @param remainingLength bytes that follow the fixed header */
  constructor(firstByte: number, remainingLength: number) {
    this.packet = Buffer.allocUnsafe(1 + lengthOfVariableByteInteger(remainingLength) + remainingLength);
    this.byte(firstByte);
    this.variableByteInteger(remainingLength);
  }

  byte(value: number): void {
    this.packet[this.#position] = value;
    this.#position += 1;
  }

  twoByteInteger(value: number): void {
    this.byte(value >> 8);
    this.byte(value & 0xff);
  }

  variableByteInteger(value: number): void {
    let rest = value;
    do {
      const digit = rest % 0x80;
      rest = Math.floor(rest / 0x80);
      this.byte(rest > 0 ? digit | 0x80 : digit);
    } while (rest > 0);
  }

  /** @param length bytes of it, fewer than 64 KiB */
  utf8String(text: string, length: number): void {
    this.twoByteInteger(length);
    this.text(text);
  }

  text(text: string): void {
    this.#position += this.packet.write(text, this.#position);
  }
}

const lengthOfVariableByteInteger = (value: number) =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : 4;

/** @param granted per topic filter: the granted QoS, or a reason code of 0x80 and above */
export function encodeSuback(packetId: number, granted: readonly number[]): Buffer {
  return encode({ cmd: 'suback', messageId: packetId, granted: [...granted] });
}

export function encodeUnsuback(packetId: number, reasonCodes: readonly number[]): Buffer {
  return encode({ cmd: 'unsuback', messageId: packetId, granted: [...reasonCodes] });
}

const pingresp = Buffer.from([0xd0, 0]);

export function encodePingresp(): Buffer {
  return pingresp;
}

export function encodeDisconnect(reasonCode: ReasonCode, userProperties?: UserProperties): Buffer {
  return encode({
    cmd: 'disconnect',
    reasonCode,
    ...(userProperties === undefined ? {} : { properties: { userProperties } }),
  });
}
