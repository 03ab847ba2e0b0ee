import { generate, type Packet } from 'mqtt-packet';
import { type ReasonCode } from './reasonCodes.ts';

/** What the gateway tells an accepted client about itself (MQTT 5 section 3.2.2.3). */
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

export function encodeConnack(reasonCode: ReasonCode, properties?: ConnackProperties): Buffer {
  return encode({
    cmd: 'connack',
    sessionPresent: false,
    reasonCode,
    ...(properties === undefined ? {} : { properties }),
  });
}

interface EncodedPublish {
  readonly topic: string;
  readonly payload: string;
  readonly qos0: Buffer;
  /** With packet identifier 0, which stands at `packetIdAt`. */
  readonly qos1: Buffer;
  readonly packetIdAt: number;
}

/** What is delivered goes to many connections one right after the other, and differs by its packet identifier alone. */
let lastPublish: EncodedPublish | null = null;

/** @param packetId of a QoS 1 delivery; absent for QoS 0 */
export function encodePublish(topic: string, payload: string, packetId?: number): Buffer {
  if (lastPublish?.payload !== payload || lastPublish.topic !== topic)
    lastPublish = encodeBoth(topic, payload);
  if (packetId === undefined) return lastPublish.qos0;
  const packet = Buffer.from(lastPublish.qos1);
  packet.writeUInt16BE(packetId, lastPublish.packetIdAt);
  return packet;
}

/** MQTT 5 section 3.3, without properties. */
function encodeBoth(topic: string, payload: string): EncodedPublish {
  const name = utf8String(topic);
  const content = Buffer.from(payload);
  const qos0 = packet(0x30, name, noProperties, content);
  const qos1 = packet(0x32, name, twoByteInteger(0), noProperties, content);
  return { topic, payload, qos0, qos1, packetIdAt: qos1.length - content.length - 3 };
}

const noProperties = Buffer.from([0]);
const userProperty = Buffer.from([0x26]);

/** MQTT 5 section 3.4. */
export function encodePuback(
  packetId: number,
  reasonCode: ReasonCode,
  userProperties: UserProperties,
): Buffer {
  const properties = Buffer.concat(
    Object.entries(userProperties).flatMap(([name, value]) => [
      userProperty,
      utf8String(name),
      utf8String(value),
    ]),
  );
  return packet(
    0x40,
    twoByteInteger(packetId),
    Buffer.from([reasonCode]),
    variableByteInteger(properties.length),
    properties,
  );
}

function packet(firstByte: number, ...body: readonly Buffer[]): Buffer {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([firstByte]), variableByteInteger(length), ...body]);
}

const twoByteInteger = (value: number) => Buffer.from([value >> 8, value & 0xff]);

/** @param text shorter than 64 KiB */
function utf8String(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([twoByteInteger(bytes.length), bytes]);
}

/** MQTT 5 section 1.5.5. */
function variableByteInteger(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const digit = rest % 0x80;
    rest = Math.floor(rest / 0x80);
    bytes.push(rest > 0 ? digit | 0x80 : digit);
  } while (rest > 0);
  return Buffer.from(bytes);
}

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

export function encodeDisconnect(reasonCode: ReasonCode): Buffer {
  return encode({ cmd: 'disconnect', reasonCode });
}
