import { generate, type Packet } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { encodePingresp, encodePuback, encodePublish } from '../../src/mqtt/encode.ts';

const reference = (packet: Packet) => generate(packet, { protocolVersion: 5 });
const publish = (topic: string, payload: string, packetId?: number) =>
  reference({
    cmd: 'publish',
    topic,
    payload,
    dup: false,
    retain: false,
    ...(packetId === undefined ? { qos: 0 } : { qos: 1, messageId: packetId }),
  });

describe('packets are the bytes that mqtt-packet writes', () => {
  // On both sides of each border between lengths of the Remaining Length.
  it.each([0, 1, 100, 127, 128, 16_000, 16_383, 16_384, 200_000])('PUBLISH of %i bytes', (length) => {
    const payload = 'é'.repeat(length / 2).padEnd(length, 'e');
    // Compared by `equals`: a matcher's report of such lengths takes seconds.
    for (const packetId of [undefined, 0xabcd]) {
      const packet = encodePublish('user/a/messages', payload, packetId);
      expect(packet.equals(publish('user/a/messages', payload, packetId))).toBe(true);
    }
  });

  it('PUBLISH by turns to other topics, of other payloads and with other identifiers', () => {
    const all = ['a', 'b'].flatMap((topic) => ['x', 'y'].map((payload) => [topic, payload] as const));
    for (const [topic, payload] of [...all, ...all.toReversed()]) {
      const first = encodePublish(topic, payload, 1);
      const second = encodePublish(topic, payload, 2);
      expect([first, second]).toEqual([publish(topic, payload, 1), publish(topic, payload, 2)]);
    }
  });

  it.each([
    [0x00, { seq: '7', timestamp: '2026-03-01T12:00:00.000Z' }],
    [0x87, { code: 'not-a-contact' }],
    [0x99, { code: 'x'.repeat(300) }],
  ])('PUBACK 0x%s with properties', (reasonCode, userProperties) => {
    expect(encodePuback(0x1234, reasonCode as 0x00, userProperties)).toEqual(
      reference({ cmd: 'puback', messageId: 0x1234, reasonCode, properties: { userProperties } }),
    );
  });

  it('PINGRESP', () => {
    expect(encodePingresp()).toEqual(reference({ cmd: 'pingresp' }));
  });
});
