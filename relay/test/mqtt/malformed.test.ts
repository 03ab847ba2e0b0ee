import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { topics } from '../../contract/index.ts';
import { badConnects, badPackets, packet, text } from './badPackets.ts';
import { type Person, type Realtime, startRealtime } from './harness.ts';
import { connectBytes, RawClient, subscribeBytes } from './rawClient.ts';

let relay: Realtime;
let person: Person;
let bystander: RawClient;

beforeAll(async () => {
  relay = await startRealtime();
  person = relay.signUp();
  bystander = await RawClient.connect(relay.mqttUrl, relay.signUp());
});

afterAll(async () => {
  bystander.close();
  await relay.close();
});

/** The gateway still serves: a connection from before, and a new one. */
async function expectOthersToGoOn(): Promise<void> {
  await bystander.ping();
  const newcomer = await RawClient.connect(relay.mqttUrl, relay.signUp());
  await newcomer.ping();
  newcomer.close();
}

describe('a broken packet ends the connection it came on, with its reason, and no other', () => {
  test.each(badPackets)('$name', async ({ bytes, reasonCode }) => {
    const client = await RawClient.connect(relay.mqttUrl, person);
    client.send(bytes);
    const { packets } = await client.ending();
    expect(packets).toMatchObject([{ cmd: 'disconnect', reasonCode }]);
    await expectOthersToGoOn();
  });

  test('in the middle of a stream: what was answered before stays answered', async () => {
    const client = await RawClient.connect(relay.mqttUrl, person);
    client.send(subscribeBytes(1, topics.userMessages(person.id)));
    expect(await client.next()).toMatchObject({ cmd: 'suback', granted: [1] });
    client.send(Buffer.concat([packet(0xc1), packet(0xc0)]));
    expect((await client.ending()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x81 }]);
    await expectOthersToGoOn();
  });

  test('a text frame', async () => {
    const client = await RawClient.connect(relay.mqttUrl, person);
    client.socket.send('MQTT');
    expect(await client.ending()).toEqual({ closeCode: 1003, packets: [] });
    await expectOthersToGoOn();
  });

  test('a WebSocket message beyond every limit', async () => {
    const client = await RawClient.connect(relay.mqttUrl, person);
    client.send(Buffer.alloc(600 * 1024));
    expect((await client.ending()).closeCode).toBe(1009);
    await expectOthersToGoOn();
  });
});

describe('a CONNECT that is refused gets its CONNACK and nothing else', () => {
  test.each(badConnects)('$name', async ({ bytes, reasonCode }) => {
    const client = await RawClient.open(relay.mqttUrl);
    client.send(bytes);
    const { packets } = await client.ending();
    expect(packets).toMatchObject([{ cmd: 'connack', reasonCode, sessionPresent: false }]);
    await expectOthersToGoOn();
  });

  test('packets sent behind it are not handled', async () => {
    const client = await RawClient.open(relay.mqttUrl);
    client.send(
      Buffer.concat([connectBytes({ token: 'not-ours' }), subscribeBytes(1, topics.userMessages(person.id))]),
    );
    const why = { userProperties: { code: 'unauthenticated' } };
    expect((await client.ending()).packets).toMatchObject([
      { cmd: 'connack', reasonCode: 0x87, properties: why },
    ]);
  });
});

describe('without a CONNECT there is no answer in MQTT', () => {
  test.each([
    ['PINGREQ', packet(0xc0)],
    ['PUBLISH', packet(0x30, text('ping'), 0)],
    ['SUBSCRIBE', packet(0x82, 0, 1, 0, text('ping'), 0)],
    ['a CONNECT larger than a token needs', Uint8Array.of(0x10, 0x81, 0x80, 0x01)],
    ['noise', Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff)],
  ])('%s first', async (_, bytes) => {
    const client = await RawClient.open(relay.mqttUrl);
    client.send(bytes);
    expect(await client.ending()).toEqual({ closeCode: 1000, packets: [] });
    await expectOthersToGoOn();
  });

  test('silence is closed', async () => {
    const impatient = await startRealtime({ mqtt: { connectTimeoutMs: 20 } });
    const client = await RawClient.open(impatient.mqttUrl);
    expect(await client.ending()).toEqual({ closeCode: 1002, packets: [] });
    await impatient.close();
  });

  test('half a CONNECT is closed', async () => {
    const impatient = await startRealtime({ mqtt: { connectTimeoutMs: 20 } });
    const client = await RawClient.open(impatient.mqttUrl);
    client.send(connectBytes(impatient.signUp()).subarray(0, 20));
    expect(await client.ending()).toEqual({ closeCode: 1002, packets: [] });
    await impatient.close();
  });
});

test('no refusal was a failure of the gateway, and no log line holds a token', () => {
  const levels = relay.logLines.map((line) => (JSON.parse(line) as { level: number }).level);
  expect(levels.filter((level) => level >= 40)).toEqual([]);
  expect(levels.length).toBeGreaterThan(badPackets.length);
  expect(relay.logLines.join('')).not.toContain(person.token);
});
