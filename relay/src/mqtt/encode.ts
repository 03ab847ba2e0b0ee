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

/** @param packetId of a QoS 1 delivery; absent for QoS 0 */
export function encodePublish(topic: string, payload: string, packetId?: number): Buffer {
  return encode({
    cmd: 'publish',
    topic,
    payload,
    dup: false,
    retain: false,
    ...(packetId === undefined ? { qos: 0 } : { qos: 1, messageId: packetId }),
  });
}

export function encodePuback(
  packetId: number,
  reasonCode: ReasonCode,
  userProperties: UserProperties,
): Buffer {
  return encode({
    cmd: 'puback',
    messageId: packetId,
    reasonCode,
    ...(Object.keys(userProperties).length === 0
      ? {}
      : { properties: { userProperties: { ...userProperties } } }),
  });
}

/** @param granted per topic filter: the granted QoS, or a reason code of 0x80 and above */
export function encodeSuback(packetId: number, granted: readonly number[]): Buffer {
  return encode({ cmd: 'suback', messageId: packetId, granted: [...granted] });
}

export function encodeUnsuback(packetId: number, reasonCodes: readonly number[]): Buffer {
  return encode({ cmd: 'unsuback', messageId: packetId, granted: [...reasonCodes] });
}

export function encodePingresp(): Buffer {
  return encode({ cmd: 'pingresp' });
}

export function encodeDisconnect(reasonCode: ReasonCode): Buffer {
  return encode({ cmd: 'disconnect', reasonCode });
}
