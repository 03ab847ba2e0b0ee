import { afterEach, beforeEach, expect, test } from 'vitest';
import { topics } from '../../contract/index.ts';
import { ApiError } from '../../src/errors.ts';
import { deferred, type Person, type Realtime, startRealtime } from './harness.ts';
import { createClients, granted, nextMessage, nextPacket, pingOf, puback } from './mqttClient.ts';
import { groupPayload, messagePayload } from './rawClient.ts';

let relay: Realtime;
let alice: Person;
let bob: Person;
let stranger: Person;
const clients = createClients();

beforeEach(async () => {
  relay = await startRealtime();
  alice = relay.signUp();
  bob = relay.signUp();
  stranger = relay.signUp();
  relay.befriend(alice, bob);
});

afterEach(async () => {
  await clients.endAll();
  await relay.close();
});

test('a message is acknowledged with its position, and fanned out to both', async () => {
  const [sender, receiver] = [
    await clients.connect(relay.mqttUrl, alice),
    await clients.connect(relay.mqttUrl, bob),
  ];
  await granted(sender, topics.userMessages(alice.id));
  await granted(receiver, topics.userMessages(bob.id));
  const deliveries = Promise.all([nextMessage(sender), nextMessage(receiver)]);
  const payload = messagePayload(alice, bob, { content: 'qrvM' });
  expect(await puback(sender, topics.userMessages(bob.id), payload)).toEqual({
    reasonCode: 0,
    seq: '1',
    timestamp: '2026-03-01T12:00:00.000Z',
  });
  expect(relay.stored).toMatchObject([{ recipientId: bob.id, epoch: 3, content: 'qrvM' }]);
  expect(await deliveries).toMatchObject([{ payload: { seq: 1 } }, { payload: { seq: 1 } }]);
});

test('PUBACK waits for the commit', async () => {
  const commit = deferred();
  relay.state.beforeCommit = () => commit.promise;
  const client = await clients.connect(relay.mqttUrl, alice);
  let acknowledged = false;
  const answer = puback(client, topics.userMessages(bob.id), messagePayload(alice, bob)).then((packet) => {
    acknowledged = true;
    return packet;
  });
  const other = await clients.connect(relay.mqttUrl, bob);
  expect(await puback(other, topics.ping, pingOf(bob))).toEqual({ reasonCode: 0 });
  expect([acknowledged, relay.stored.length]).toEqual([false, 0]);
  commit.resolve();
  expect(await answer).toMatchObject({ reasonCode: 0, seq: '1' });
  expect(relay.stored).toHaveLength(1);
});

test('packets are handled in their order, however long each takes', async () => {
  const first = deferred();
  relay.state.beforeCommit = ({ epoch }) => (epoch === 1 ? first.promise : Promise.resolve());
  const client = await clients.connect(relay.mqttUrl, alice);
  const answers = [1, 2, 3].map((epoch) => {
    return client.publishAsync(topics.userMessages(bob.id), messagePayload(alice, bob, { epoch }), {
      qos: epoch === 2 ? 0 : 1,
    });
  });
  first.resolve();
  await Promise.all(answers);
  expect(relay.stored.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
});

test('QoS 0 is handled without an answer, even just before DISCONNECT', async () => {
  const client = await clients.connect(relay.mqttUrl, alice);
  const stored = deferred();
  relay.state.beforeCommit = async () => stored.resolve();
  await client.publishAsync(topics.userMessages(bob.id), messagePayload(alice, bob), { qos: 0 });
  await client.endAsync();
  await stored.promise;
  await relay.gateway.close();
  expect(relay.stored).toHaveLength(1);
});

test('a stale epoch is refused with the current one', async () => {
  relay.state.beforeCommit = () => {
    throw new ApiError('stale-epoch', 'The epoch has moved.', { epoch: 12 });
  };
  const client = await clients.connect(relay.mqttUrl, alice);
  expect(await puback(client, topics.userMessages(bob.id), messagePayload(alice, bob))).toEqual({
    reasonCode: 0x83,
    code: 'stale-epoch',
    epoch: '12',
  });
});

test('a PUBLISH that is refused gets the reason code of the refusal', async () => {
  const client = await clients.connect(relay.mqttUrl, alice);
  const kinds = [
    ['message-id-taken', 0x83],
    ['not-found', 0x87],
    ['rate-limited', 0x97],
    ['storage-full', 0x97],
    ['unavailable', 0x80],
  ] as const;
  for (const [code, reasonCode] of kinds) {
    relay.state.beforeCommit = () => {
      throw new ApiError(code, 'No.');
    };
    const answer = await puback(client, topics.userMessages(bob.id), messagePayload(alice, bob));
    expect(answer).toEqual({ reasonCode, code });
  }
});

test('a defect behind the gateway is logged, answered without its message, and ends nothing', async () => {
  relay.state.beforeCommit = () => {
    throw new Error('inner detail');
  };
  const client = await clients.connect(relay.mqttUrl, alice);
  const answer = await puback(client, topics.userMessages(bob.id), messagePayload(alice, bob));
  expect(answer).toEqual({ reasonCode: 0x80, code: 'internal' });
  expect(relay.logLines.join('')).toContain('inner detail');
  expect(await puback(client, topics.ping, pingOf(alice))).toEqual({ reasonCode: 0 });
});

test('a PUBLISH to a stranger, to a status, to no group and to no topic is refused', async () => {
  const client = await clients.connect(relay.mqttUrl, alice);
  const notAllowed = [
    [topics.userMessages(stranger.id), messagePayload(alice, stranger), 'not-a-contact'],
    [topics.userStatus(alice.id), JSON.stringify({ userId: alice.id, online: true }), 'forbidden'],
    [topics.groupMessages(bob.id), groupPayload(alice, bob), 'not-found'],
    ['elsewhere', messagePayload(alice, bob), 'forbidden'],
  ] as const;
  for (const [topic, payload, code] of notAllowed) {
    expect(await puback(client, topic, payload)).toEqual({ reasonCode: 0x87, code });
  }
  expect(relay.stored).toEqual([]);
});

test('a PUBLISH in the name of another is refused', async () => {
  const client = await clients.connect(relay.mqttUrl, alice);
  const forged = messagePayload(alice, bob, { senderId: stranger.id });
  expect(await puback(client, topics.userMessages(bob.id), forged)).toEqual({
    reasonCode: 0x87,
    code: 'forbidden',
  });
  expect(await puback(client, topics.ping, pingOf(bob))).toEqual({ reasonCode: 0x87, code: 'forbidden' });
});

test('a payload that does not match its schema is refused', async () => {
  const client = await clients.connect(relay.mqttUrl, alice);
  const wrong = [
    ['', 'malformed'],
    ['{', 'malformed'],
    ['[]', 'invalid-request'],
    ['null', 'invalid-request'],
    [messagePayload(alice, bob, { type: 'commit' }), 'invalid-request'],
    [messagePayload(alice, bob, { messageId: 'x' }), 'invalid-request'],
    [messagePayload(alice, bob, { epoch: -1 }), 'invalid-request'],
    [messagePayload(alice, bob, { content: '' }), 'invalid-request'],
    [messagePayload(alice, bob, { content: 'not base64url!' }), 'invalid-request'],
    [messagePayload(alice, bob, { recipientId: stranger.id }), 'invalid-request'],
  ] as const;
  for (const [payload, code] of wrong) {
    const answer = await puback(client, topics.userMessages(bob.id), payload);
    expect({ payload, ...answer }).toEqual({ payload, reasonCode: 0x99, code });
  }
  const notUtf8 = nextPacket(client, 'puback');
  client.publish(topics.userMessages(bob.id), Buffer.from([0xff, 0xfe]), { qos: 1 }, () => {});
  expect(await notUtf8).toMatchObject({ reasonCode: 0x99 });
});

test('a message needs a device, which may be registered after CONNECT', async () => {
  const newcomer = relay.signUp({ deviceId: null });
  relay.befriend(newcomer, bob);
  const client = await clients.connect(relay.mqttUrl, newcomer);
  const publish = () => puback(client, topics.userMessages(bob.id), messagePayload(newcomer, bob));
  expect(await publish()).toEqual({ reasonCode: 0x87, code: 'device-required' });
  relay.bindDevice(newcomer);
  expect(await publish()).toMatchObject({ reasonCode: 0 });
});

test('a client that wants no problem information gets the reason code alone', async () => {
  const client = await clients.connect(relay.mqttUrl, alice, {
    properties: { requestProblemInformation: false, userProperties: { token: alice.token } },
  });
  expect(await puback(client, 'elsewhere', '')).toEqual({ reasonCode: 0x87 });
});
