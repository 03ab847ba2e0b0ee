import { generate, type Packet } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { type ClientPacket, decodePacket } from '../../src/mqtt/decode.ts';
import { FrameSplitter } from '../../src/mqtt/frames.ts';
import { PacketError } from '../../src/mqtt/reasonCodes.ts';
import { badPackets, packet, text } from './badPackets.ts';

function decode(bytes: Uint8Array): ClientPacket[] {
  return [...new FrameSplitter(256 * 1024).push(bytes)].map((frame) => decodePacket(frame));
}

/** The error that decoding throws, or the packets if it throws none. */
function refusalOf(bytes: Uint8Array): unknown {
  try {
    return decode(bytes);
  } catch (error) {
    return error;
  }
}

function written(source: Packet): ClientPacket | undefined {
  return decode(generate(source, { protocolVersion: 5 }))[0];
}

describe('what mqtt-packet writes is read as it was meant', () => {
  test('CONNECT with everything in it', () => {
    const connect = written({
      cmd: 'connect',
      protocolVersion: 5,
      clientId: 'web-äö-1',
      clean: true,
      keepalive: 300,
      username: 'someone',
      password: Buffer.from([0, 255]),
      will: { topic: 'away', payload: 'gone', qos: 1, properties: { willDelayInterval: 4 } },
      properties: {
        sessionExpiryInterval: 70_000,
        receiveMaximum: 700,
        maximumPacketSize: 80_000,
        topicAliasMaximum: 5,
        requestResponseInformation: true,
        requestProblemInformation: false,
        userProperties: { token: 'a.b.c', several: ['one', 'two'] },
        authenticationMethod: 'method',
        authenticationData: Buffer.from([1, 2]),
      },
    });
    expect(connect).toEqual({
      type: 'connect',
      cleanStart: true,
      keepAlive: 300,
      clientId: 'web-äö-1',
      hasWill: true,
      properties: {
        sessionExpiryInterval: 70_000,
        receiveMaximum: 700,
        maximumPacketSize: 80_000,
        topicAliasMaximum: 5,
        requestResponseInformation: 1,
        requestProblemInformation: 0,
        userProperties: [
          ['token', 'a.b.c'],
          ['several', 'one'],
          ['several', 'two'],
        ],
        authenticationMethod: 'method',
        authenticationData: Buffer.from([1, 2]),
      },
    });
  });

  test('PUBLISH with QoS 1, properties and a payload of any bytes', () => {
    const payload = Buffer.from(Array.from({ length: 300 }, (_, index) => index % 256));
    const publish = written({
      cmd: 'publish',
      topic: 'user/é/messages',
      messageId: 65_535,
      qos: 1,
      dup: true,
      retain: false,
      payload,
      properties: { payloadFormatIndicator: true, messageExpiryInterval: 1, userProperties: { a: 'b' } },
    });
    expect(publish).toEqual({ type: 'publish', qos: 1, packetId: 65_535, topic: 'user/é/messages', payload });
  });

  test('PUBLISH with QoS 0 and no payload', () => {
    const source: Packet = { cmd: 'publish', topic: 'ping', qos: 0, dup: false, retain: false, payload: '' };
    expect(written(source)).toEqual({
      type: 'publish',
      qos: 0,
      packetId: 0,
      topic: 'ping',
      payload: Buffer.alloc(0),
    });
  });

  test('SUBSCRIBE and UNSUBSCRIBE with several filters', () => {
    const subscriptions = [
      { topic: 'a/+', qos: 2 as const, nl: true, rap: true, rh: 2 },
      { topic: 'b', qos: 0 as const },
    ];
    expect(written({ cmd: 'subscribe', messageId: 9, subscriptions })).toEqual({
      type: 'subscribe',
      packetId: 9,
      subscriptions: [
        { filter: 'a/+', qos: 2 },
        { filter: 'b', qos: 0 },
      ],
    });
    expect(written({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: ['a/+', 'b'] })).toEqual({
      type: 'unsubscribe',
      packetId: 9,
      filters: ['a/+', 'b'],
    });
  });

  test.each<Packet>([
    { cmd: 'puback', messageId: 513 },
    { cmd: 'puback', messageId: 513, reasonCode: 0x99 },
    { cmd: 'puback', messageId: 513, reasonCode: 0, properties: { reasonString: 'because' } },
  ])('PUBACK %j', (source) => {
    expect(written(source)).toEqual({ type: 'puback', packetId: 513 });
  });

  test.each<Packet>([
    { cmd: 'disconnect', reasonCode: 0 },
    { cmd: 'disconnect', reasonCode: 0x04, properties: { reasonString: 'bye', sessionExpiryInterval: 0 } },
  ])('DISCONNECT %j', (source) => {
    expect(written(source)).toEqual({ type: 'disconnect' });
  });
});

test('the shortest forms of DISCONNECT and PINGREQ are read, one after the other', () => {
  const stream = [packet(0xc0), packet(0xe0), packet(0xe0, 0), packet(0xc0)];
  expect(decode(Buffer.concat(stream)).map(({ type }) => type)).toEqual([
    'pingreq',
    'disconnect',
    'disconnect',
    'pingreq',
  ]);
});

test.each([
  ['a noncharacter', '\ufffe'],
  ['a byte order mark', '\ufeffping'],
  ['a character beyond the basic plane', '😀'],
])('%s is kept in a string', (_, topic) => {
  expect(decode(packet(0x30, text(topic), 0))).toMatchObject([{ topic }]);
});

test.each(badPackets.filter(({ name }) => name !== 'a second CONNECT'))(
  '$name is refused',
  ({ bytes, reasonCode }) => {
    const refusal = refusalOf(bytes);
    expect(refusal).toBeInstanceOf(PacketError);
    expect(refusal).toMatchObject({ reasonCode });
  },
);

test('no message of a refusal quotes the packet', () => {
  const secret = 'secret-in-a-topic';
  for (const firstByte of [0x30, 0x31, 0x34, 0x38]) {
    const refusal = refusalOf(packet(firstByte, text(`${secret}/#`), 0, 7, 0));
    expect(refusal).toBeInstanceOf(PacketError);
    expect(String(refusal)).not.toContain(secret);
  }
});
