import type { MqttClient } from 'mqtt';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { directConversationId, IncomingTyping, limits, topics } from '../../contract/index.ts';
import {
  base64Url,
  befriend,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { addMember, commitBody, createGroup } from '../http/conversation.ts';
import { createClients, granted, pingOf, puback } from './mqttClient.ts';
import { typingPayload } from './rawClient.ts';

let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
let mette: PersonOnDevice;
const clients = createClients();

beforeAll(async () => {
  relay = await startTestRelay();
});

afterAll(() => relay.close());

beforeEach(async () => {
  [aino, eero, mette] = [
    await signUpOnDevice(relay),
    await signUpOnDevice(relay),
    await signUpOnDevice(relay),
  ];
  for (const person of [eero, mette]) await befriend(aino, person);
});

afterEach(() => clients.endAll());

/** A person's connection, with what it has been told of who is writing. */
interface Listening {
  readonly client: MqttClient;
  readonly heard: { payload: unknown; qos: number; retain: boolean }[];
  /** Resolves once everything that was sent to it before has come. */
  readonly caughtUp: () => Promise<unknown>;
}

async function listening(person: PersonOnDevice): Promise<Listening> {
  const client = await clients.connect(relay.mqttUrl, person);
  expect(await granted(client, topics.userTyping(person.id))).toEqual([0]);
  const heard: Listening['heard'] = [];
  client.on('message', (topic, payload, { qos, retain }) => {
    expect(topic).toBe(topics.userTyping(person.id));
    heard.push({ payload: JSON.parse(payload.toString()), qos, retain });
  });
  return { client, heard, caughtUp: () => puback(client, topics.ping, pingOf(person)) };
}

/** With QoS 1, so that PUBACK tells what comes of it; a client publishes with QoS 0. */
const write = (client: MqttClient, topic: string, payload = typingPayload()) =>
  puback(client, topic, payload);

async function groupOf(creator: PersonOnDevice, ...members: PersonOnDevice[]): Promise<string> {
  const groupId = await createGroup(creator);
  for (const [epoch, member] of members.entries()) {
    const welcomes = [{ deviceIds: [member.deviceId], welcome: base64Url(100) }];
    const { status } = await addMember(creator, groupId, member, commitBody(epoch, welcomes));
    if (status !== 201) throw new Error(`adding a member answered ${status}`);
  }
  return groupId;
}

test('reaches the contact who is connected, from the session that has sent it, and nobody else', async () => {
  const [writer, other, third] = [await listening(aino), await listening(eero), await listening(mette)];
  expect(await write(writer.client, topics.userTyping(eero.id))).toEqual({ reasonCode: 0 });
  await Promise.all([writer, other, third].map(({ caughtUp }) => caughtUp()));
  const [told] = other.heard;
  expect(other.heard).toHaveLength(1);
  expect(told).toMatchObject({ qos: 0, retain: false });
  expect(IncomingTyping.parse(told?.payload)).toMatchObject({
    conversationId: directConversationId(aino.id, eero.id),
    userId: aino.id,
    deviceId: aino.deviceId,
    epoch: 1,
  });
  expect([writer.heard, third.heard]).toEqual([[], []]);
});

test('is kept for nobody: who connects later hears nothing, and no log has it', async () => {
  const writer = await listening(aino);
  await write(writer.client, topics.userTyping(eero.id));
  const late = await listening(eero);
  await late.caughtUp();
  expect(late.heard).toEqual([]);
  expect((await eero.call('GET', `/messages/user/${aino.id}`)).body).toEqual([]);
});

test('reaches every other member of a group on their own topic, and ends with their part in it', async () => {
  const groupId = await groupOf(aino, eero, mette);
  const topic = topics.groupTyping(groupId);
  const [writer, other, third] = [await listening(aino), await listening(eero), await listening(mette)];
  await write(writer.client, topic);
  expect((await eero.call('DELETE', `/group/${groupId}/leave`)).status).toBe(204);
  await write(writer.client, topic);
  expect(await write(other.client, topic)).toEqual({ reasonCode: 0x87, code: 'not-found' });
  await Promise.all([writer, other, third].map(({ caughtUp }) => caughtUp()));
  const [told, toldAll] = [other.heard, third.heard].map((heard) => heard.map(({ payload }) => payload));
  expect(told).toMatchObject([{ conversationId: `group:${groupId}`, userId: aino.id }]);
  expect(toldAll).toHaveLength(2);
  expect(writer.heard).toEqual([]);
});

test('goes neither way between people of whom one has blocked the other, who is told nothing of it', async () => {
  await befriend(eero, mette);
  const groupId = await groupOf(aino, eero, mette);
  const [blocker, blocked] = [await listening(eero), await listening(mette)];
  expect((await eero.call('PUT', `/blocks/${mette.id}`)).status).toBeLessThan(300);
  expect(await write(blocked.client, topics.userTyping(eero.id))).toEqual({ reasonCode: 0 });
  expect(await write(blocked.client, topics.groupTyping(groupId))).toEqual({ reasonCode: 0 });
  const refused = await write(blocker.client, topics.userTyping(mette.id));
  expect(refused).toMatchObject({ reasonCode: 0x87, code: 'not-a-contact' });
  await Promise.all([blocker.caughtUp(), blocked.caughtUp()]);
  expect([blocker.heard, blocked.heard]).toEqual([[], []]);
});

test.each([
  ['another size', { content: base64Url(limits.typingSize + 1) }, 'invalid-request'],
  ['a smaller size', { content: base64Url(limits.typingSize - 1) }, 'invalid-request'],
  ['another type', { type: 'message' }, 'invalid-request'],
  ['an epoch that is none', { epoch: -1 }, 'invalid-request'],
])('of %s is refused', async (_what, changes, code) => {
  const [writer, other] = [await listening(aino), await listening(eero)];
  const answer = await write(writer.client, topics.userTyping(eero.id), typingPayload(changes));
  expect(answer).toEqual({ reasonCode: 0x99, code });
  await other.caughtUp();
  expect(other.heard).toEqual([]);
});
