import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId, type LogEntry, topics } from '../contract/index.ts';
import {
  base64Url,
  befriend,
  call,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from './helpers.ts';
import { log, messageBody, send } from './http/conversation.ts';
import { createClients, puback } from './mqtt/mqttClient.ts';

let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
let now: number;
const clients = createClients();

beforeEach(async () => {
  now = Date.now();
  relay = await startTestRelay({ clock: () => now });
  [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(aino, eero);
  const commit = { epoch: 0, commit: base64Url(50), welcomes: [], groupInfo: base64Url(50) };
  await aino.call('POST', `/conversations/${directConversationId(aino.id, eero.id)}/commits`, commit);
  await send(aino, eero, messageBody(1));
});
afterEach(async () => {
  await clients.endAll();
  await relay.close();
});

const pragma = (setting: string) => sql`pragma ${sql.raw(setting)}`.execute(relay.relay.database.db);

const large = (messageId: string = randomUUID()) => ({ messageId, epoch: 1, content: base64Url(100_000) });

const outgoing = (message: ReturnType<typeof large>) =>
  JSON.stringify({
    type: 'message',
    senderId: aino.id,
    recipientId: eero.id,
    timestamp: new Date(now).toISOString(),
    ...message,
  });

/** Calls that only read, as both of them meet them after a day, when "last seen" is due. */
async function readsStillWork(): Promise<void> {
  now += 24 * 60 * 60 * 1000;
  for (const path of ['/conversations', '/contacts', '/profile', '/welcomes', `/messages/user/${aino.id}`]) {
    expect([path, (await call(relay, 'GET', path, { token: eero.token })).status]).toEqual([path, 200]);
  }
  const client = await clients.connect(relay.mqttUrl, eero);
  expect(client.connected).toBe(true);
}

describe('a full disk', () => {
  beforeEach(() => pragma('max_page_count = 1'));

  it('is answered by REST and by MQTT, keeps reads working, and loses nothing that its sender keeps', async () => {
    const before = await log(aino, eero);
    const byRest = large();
    expect(await send(aino, eero, byRest)).toMatchObject({ status: 507, body: { code: 'storage-full' } });
    const byMqtt = large();
    const client = await clients.connect(relay.mqttUrl, aino);
    const topic = topics.userMessages(eero.id);
    expect(await puback(client, topic, outgoing(byMqtt))).toEqual({ reasonCode: 0x97, code: 'storage-full' });

    await readsStillWork();
    expect(await log(aino, eero)).toEqual(before);

    await pragma('max_page_count = 1000000');
    expect(await send(aino, eero, byRest)).toMatchObject({ status: 201, body: { seq: before.length + 1 } });
    expect(await puback(client, topic, outgoing(byMqtt))).toMatchObject({
      reasonCode: 0,
      seq: String(before.length + 2),
    });
    const after = await log(aino, eero);
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => index + 1));
    expect(after.slice(-2).map(({ id }) => id)).toEqual([byRest.messageId, byMqtt.messageId]);
  });

  it('refuses a whole group of appends at most, and stores exactly those it acknowledged', async () => {
    const messages = Array.from({ length: 8 }, () => large());
    const answers = await Promise.all(messages.map((message) => send(aino, eero, message)));
    const stored = new Set((await log(aino, eero)).map((entry: LogEntry) => entry.id));
    const acknowledged = messages.filter((_, index) => answers[index]?.status === 201);
    expect(messages.filter(({ messageId }) => stored.has(messageId))).toEqual(acknowledged);
    expect(answers.some(({ status }) => status === 507)).toBe(true);
  });
});

it('a database that may not be written is unavailable to writers, and is read as ever', async () => {
  await pragma('query_only = on');
  expect(await send(aino, eero, large())).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  const client = await clients.connect(relay.mqttUrl, aino);
  expect(await puback(client, topics.userMessages(eero.id), outgoing(large()))).toEqual({
    reasonCode: 0x80,
    code: 'unavailable',
  });
  await readsStillWork();
  expect(await log(aino, eero)).toHaveLength(2);
});
