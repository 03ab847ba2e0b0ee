import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { IncomingEvent, type LogEntry, limits, OutgoingGroupMessage, topics } from '../../contract/index.ts';
import type { Groups } from '../../src/groups/groups.ts';
import {
  base64Url,
  befriend,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { addMember, commitBody, createGroup } from '../http/conversation.ts';
import { createClients, granted, nextMessage, puback } from './mqttClient.ts';
import { groupPayload } from './rawClient.ts';

let relay: TestRelay;
let alice: PersonOnDevice;
let bob: PersonOnDevice;
let groupId: string;
const clients = createClients();

beforeAll(async () => {
  relay = await startTestRelay();
});

afterAll(() => relay.close());

beforeEach(async () => {
  [alice, bob] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(alice, bob);
  groupId = await createGroup(alice);
  const welcomes = [{ deviceIds: [bob.deviceId], welcome: base64Url(100) }];
  const { status } = await addMember(alice, groupId, bob, commitBody(0, welcomes));
  if (status !== 201) throw new Error(`adding the member answered ${status}`);
});

afterEach(() => clients.endAll());

test('a message to a group is stored, acknowledged with its position, and reaches who has the chat open', async () => {
  const [sender, receiver] = [
    await clients.connect(relay.mqttUrl, alice),
    await clients.connect(relay.mqttUrl, bob),
  ];
  for (const client of [sender, receiver]) {
    expect(await granted(client, topics.groupMessages(groupId))).toEqual([1]);
  }
  const deliveries = Promise.all([nextMessage(sender), nextMessage(receiver)]);
  const payload = groupPayload(alice, { id: groupId }, { epoch: 1, content: base64Url(300) });
  const sent = OutgoingGroupMessage.parse(JSON.parse(payload));
  const answer = await puback(sender, topics.groupMessages(groupId), payload);
  const log = await bob.call<LogEntry[]>('GET', `/messages/group/${groupId}`);
  const entry = log.body.at(-1);
  expect(entry).toMatchObject({ id: sent.messageId, sender_id: alice.id, content: sent.content });
  expect(answer).toEqual({ reasonCode: 0, seq: String(entry?.seq), timestamp: entry?.timestamp });
  for (const { topic, payload: delivered } of await deliveries) {
    expect(topic).toBe(topics.groupMessages(groupId));
    expect(IncomingEvent.parse(delivered)).toMatchObject({
      type: 'message',
      groupId,
      messageId: sent.messageId,
      content: sent.content,
    });
  }
});

test('a member who is not subscribed to a group hears on their own topic that it has something new', async () => {
  const receiver = await clients.connect(relay.mqttUrl, bob);
  await granted(receiver, topics.userMessages(bob.id));
  const delivery = nextMessage(receiver);
  const sender = await clients.connect(relay.mqttUrl, alice);
  await puback(sender, topics.groupMessages(groupId), groupPayload(alice, { id: groupId }, { epoch: 1 }));
  expect(await delivery).toMatchObject({
    payload: { type: 'available', conversationId: `group:${groupId}`, seq: 2 },
  });
});

test('strangers may neither listen nor publish, whether the group exists or not', async () => {
  const stranger = await signUpOnDevice(relay);
  const client = await clients.connect(relay.mqttUrl, stranger);
  for (const id of [groupId, crypto.randomUUID()]) {
    expect(await granted(client, topics.groupMessages(id))).toEqual([0x87]);
    const payload = groupPayload(stranger, { id }, { epoch: 1 });
    expect(await puback(client, topics.groupMessages(id), payload)).toEqual({
      reasonCode: 0x87,
      code: 'not-found',
    });
  }
});

test('a payload must name its sender and the group of its topic', async () => {
  const client = await clients.connect(relay.mqttUrl, alice);
  const topic = topics.groupMessages(groupId);
  const other = groupPayload(alice, { id: crypto.randomUUID() }, { epoch: 1 });
  expect(await puback(client, topic, other)).toEqual({ reasonCode: 0x99, code: 'invalid-request' });
  const forged = groupPayload(bob, { id: groupId }, { epoch: 1 });
  expect(await puback(client, topic, forged)).toEqual({ reasonCode: 0x87, code: 'forbidden' });
  const stale = groupPayload(alice, { id: groupId }, { epoch: 7 });
  expect(await puback(client, topic, stale)).toEqual({ reasonCode: 0x83, code: 'stale-epoch', epoch: '1' });
});

test.each([
  ['leaving', () => bob.call('DELETE', `/group/${groupId}/leave`)],
  ['deleting the group', () => alice.call('DELETE', `/group/${groupId}`)],
])('%s ends the subscription at once, and no new one is granted', async (_what, end) => {
  const client = await clients.connect(relay.mqttUrl, bob);
  const topic = topics.groupMessages(groupId);
  expect(await granted(client, topic)).toEqual([1]);
  const received: string[] = [];
  client.on('message', (on) => received.push(on));
  expect((await end()).status).toBe(204);
  relay.relay.services.hub.publish(topic, '{}');
  expect(await granted(client, topic)).toEqual([0x87]);
  expect(received).toEqual([]);
});

test('a member who leaves while the relay looks up a subscription is not granted it', async () => {
  const { groups } = relay.relay.services;
  const isMember: Groups['isMember'] = groups.isMember.bind(groups);
  let asked = 0;
  const slow: Groups['isMember'] = async (...question) => {
    const answer = await isMember(...question);
    asked += 1;
    if (asked === 1) await bob.call('DELETE', `/group/${groupId}/leave`);
    return answer;
  };
  Object.assign(groups, { isMember: slow });
  const client = await clients.connect(relay.mqttUrl, bob);
  expect(await granted(client, topics.groupMessages(groupId))).toEqual([0x87]);
  Object.assign(groups, { isMember });
  expect(asked).toBe(2);
});

test('groups do not count against the limit of subscriptions', async () => {
  const client = await clients.connect(relay.mqttUrl, alice);
  const contacts: PersonOnDevice[] = [];
  for (let count = 0; count < limits.mqttExtraSubscriptions; count++) {
    const contact = await signUpOnDevice(relay);
    await befriend(alice, contact);
    contacts.push(contact);
  }
  const statuses = contacts.map(({ id }) => topics.userStatus(id));
  expect(await granted(client, ...statuses)).toEqual(statuses.map(() => 1));
  expect(await granted(client, topics.groupMessages(groupId))).toEqual([1]);
  expect(await granted(client, topics.userMessages(alice.id))).toEqual([0x97]);
});
