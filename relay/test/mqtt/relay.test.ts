import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  directConversationId,
  IncomingEvent,
  type LogEntry,
  OutgoingMessage,
  topics,
} from '../../contract/index.ts';
import {
  base64Url,
  befriend,
  call,
  onAnotherDevice,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
  temporaryFolder,
} from '../helpers.ts';
import { createClients, disconnectReason, granted, nextMessage, pingOf, puback } from './mqttClient.ts';
import { messagePayload } from './rawClient.ts';

let relay: TestRelay;
let alice: PersonOnDevice;
let bob: PersonOnDevice;
const clients = createClients();

beforeAll(async () => {
  relay = await startTestRelay();
});

afterAll(() => relay.close());

beforeEach(async () => {
  [alice, bob] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(alice, bob);
});

afterEach(() => clients.endAll());

/** Starts the conversation of the two, so that its epoch is 1. */
async function startConversation(from = alice, to = bob): Promise<string> {
  const conversationId = directConversationId(from.id, to.id);
  const answer = await from.call('POST', `/conversations/${conversationId}/commits`, {
    epoch: 0,
    commit: base64Url(100),
    welcomes: [{ deviceIds: [to.deviceId], welcome: base64Url(100) }],
    groupInfo: base64Url(100),
  });
  expect(answer.status).toBe(201);
  return conversationId;
}

/** Connected, and subscribed to its person's messages. */
async function listening(person: PersonOnDevice) {
  const client = await clients.connect(relay.mqttUrl, person);
  expect(await granted(client, topics.userMessages(person.id))).toEqual([1]);
  return client;
}

test('a message that PUBACK acknowledges is in the log, and reaches every device of both', async () => {
  const conversationId = await startConversation();
  const aliceElsewhere = await onAnotherDevice(relay, alice);
  const devices = [await listening(alice), await listening(aliceElsewhere), await listening(bob)];
  const deliveries = Promise.all(devices.map((device) => nextMessage(device)));
  const payload = messagePayload(alice, bob, { epoch: 1, content: base64Url(300) });
  const sent = OutgoingMessage.parse(JSON.parse(payload));

  const answer = await puback(
    await clients.connect(relay.mqttUrl, alice),
    topics.userMessages(bob.id),
    payload,
  );
  const log = await bob.call<LogEntry[]>('GET', `/messages/user/${alice.id}`);
  const entry = log.body.at(-1);
  expect(answer).toEqual({ reasonCode: 0, seq: String(entry?.seq), timestamp: entry?.timestamp });
  expect(entry).toMatchObject({
    id: sent.messageId,
    conversationId,
    sender_id: alice.id,
    sender_device_id: alice.deviceId,
    content: sent.content,
  });
  for (const delivery of await deliveries) {
    expect(IncomingEvent.parse(delivery.payload)).toEqual({
      type: 'message',
      conversationId,
      messageId: sent.messageId,
      senderId: alice.id,
      senderDeviceId: alice.deviceId,
      seq: entry?.seq,
      epoch: 1,
      content: sent.content,
      timestamp: entry?.timestamp,
    });
  }
});

test('the same message by MQTT and by REST exists once', async () => {
  await startConversation();
  const client = await clients.connect(relay.mqttUrl, alice);
  const payload = messagePayload(alice, bob, { epoch: 1 });
  const { messageId, epoch, content } = OutgoingMessage.parse(JSON.parse(payload));
  const first = await puback(client, topics.userMessages(bob.id), payload);
  expect(await puback(client, topics.userMessages(bob.id), payload)).toEqual(first);
  const rest = await alice.call<{ seq: number }>('POST', `/messages/user/${bob.id}`, {
    messageId,
    epoch,
    content,
  });
  expect(first).toMatchObject({ reasonCode: 0, seq: String(rest.body.seq) });
  const log = await bob.call<LogEntry[]>('GET', `/messages/user/${alice.id}`);
  expect(log.body.filter((entry) => entry.id === messageId)).toHaveLength(1);
});

test('a stale epoch is refused with the current one', async () => {
  await startConversation();
  const client = await clients.connect(relay.mqttUrl, alice);
  const payload = messagePayload(alice, bob, { epoch: 0 });
  expect(await puback(client, topics.userMessages(bob.id), payload)).toEqual({
    reasonCode: 0x83,
    code: 'stale-epoch',
    epoch: '1',
  });
});

test('a message sent by REST is delivered by MQTT', async () => {
  await startConversation();
  const client = await listening(bob);
  const delivery = nextMessage(client);
  const message = { messageId: crypto.randomUUID(), epoch: 1, content: 'AAEC' };
  expect((await alice.call('POST', `/messages/user/${bob.id}`, message)).status).toBe(201);
  expect((await delivery).payload).toMatchObject({ type: 'message', messageId: message.messageId });
});

test('the largest content fits into a packet', async () => {
  await startConversation();
  const receiver = await listening(bob);
  const delivery = nextMessage(receiver);
  const client = await clients.connect(relay.mqttUrl, alice);
  const payload = messagePayload(alice, bob, { epoch: 1, content: base64Url(128 * 1024) });
  expect(await puback(client, topics.userMessages(bob.id), payload)).toMatchObject({ reasonCode: 0 });
  expect((await delivery).payload).toMatchObject({ type: 'message' });
});

test('removing a contact ends the status subscription and the right to send', async () => {
  const client = await listening(alice);
  expect(await granted(client, topics.userStatus(bob.id))).toEqual([1]);
  const changed = nextMessage(client);
  expect((await bob.call('DELETE', `/contacts/${alice.id}`)).status).toBe(204);
  expect((await changed).payload).toEqual({ type: 'contacts', lists: ['contacts'] });
  expect(await granted(client, topics.userStatus(bob.id))).toEqual([0x87]);
  expect(await puback(client, topics.userMessages(bob.id), messagePayload(alice, bob))).toEqual({
    reasonCode: 0x87,
    code: 'not-a-contact',
  });
});

test('logging out ends the connections of that session, not those of another', async () => {
  const elsewhere = await onAnotherDevice(relay, alice);
  const [client, other] = [await listening(alice), await listening(elsewhere)];
  const reason = disconnectReason(client);
  expect((await alice.call('POST', '/logout')).status).toBe(204);
  expect(await reason).toBe(0x87);
  expect(await puback(other, topics.ping, pingOf(alice))).toEqual({ reasonCode: 0 });
  await expect(clients.connect(relay.mqttUrl, alice)).rejects.toMatchObject({ code: 0x87 });
});

test('stopping disconnects every client with a reason, and keeps what was acknowledged', async () => {
  const dataDir = await temporaryFolder();
  const before = await startTestRelay({ dataDir });
  const [one, other] = [await signUpOnDevice(before), await signUpOnDevice(before)];
  await befriend(one, other);
  await startConversation(one, other);
  const client = await clients.connect(before.mqttUrl, one);
  const answer = await puback(
    client,
    topics.userMessages(other.id),
    messagePayload(one, other, { epoch: 1 }),
  );
  const reason = disconnectReason(client);
  await before.close();
  expect(await reason).toBe(0x8b);

  const after = await startTestRelay({ dataDir });
  const log = await call<LogEntry[]>(after, 'GET', `/messages/user/${one.id}`, { token: other.token });
  expect(String(log.body.at(-1)?.seq)).toBe('seq' in answer ? answer.seq : 'not acknowledged');
  await after.close();
  await rm(dataDir, { recursive: true });
});

test('the log holds no token and no payload', async () => {
  await startConversation();
  const client = await clients.connect(relay.mqttUrl, alice);
  const content = base64Url(100);
  await puback(client, topics.userMessages(bob.id), messagePayload(alice, bob, { epoch: 1, content }));
  await puback(client, topics.userMessages(bob.id), '{"broken-payload');
  await expect(clients.connect(relay.mqttUrl, { token: `${alice.token}x` })).rejects.toMatchObject({
    code: 0x87,
  });
  const log = relay.logLines.join('');
  expect(log).toContain('MQTT packet refused');
  for (const secret of [alice.token, content, 'broken-payload', alice.email])
    expect(log).not.toContain(secret);
});
