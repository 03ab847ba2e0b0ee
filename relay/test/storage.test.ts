import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { blobsPath, tusVersion } from '../contract/blobs.ts';
import { directConversationId, type LogEntry, topics } from '../contract/index.ts';
import { servedRoutes } from '../contract/served.ts';
import { eventually } from './eventually.ts';
import {
  base64Url,
  befriend,
  call,
  logIn,
  onAnotherDevice,
  type PersonOnDevice,
  signUp,
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
/** Bytes that are free, or the reason why nobody knows. */
let free: number | Error;
const clients = createClients();
const MiB = 1024 * 1024;

beforeEach(async () => {
  now = Date.now();
  free = 100 * MiB;
  const freeBytes = async () => {
    if (free instanceof Error) throw free;
    return free;
  };
  relay = await startTestRelay({ clock: () => now, freeBytes });
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

describe('a disk with nothing left but the reserve', () => {
  const full = { status: 507, body: { code: 'storage-full' } };

  const fills = async () => {
    free = 60 * MiB;
    await eventually(async () => expect(await send(aino, eero, large())).toMatchObject(full));
  };

  beforeEach(fills);

  it('takes nothing that makes the database grow, and every other call', async () => {
    const refused: string[] = [];
    for (const [name, route] of Object.entries(servedRoutes)) {
      const [path] = route.paths;
      const url = path.replaceAll(/\{\w+\}/g, randomUUID());
      // Most have no body that they would take, which comes to light behind the door.
      const { body } = await call<{ code?: string } | null>(relay, route.method, url, { token: aino.token });
      if (body?.code === 'storage-full') refused.push(name);
      // It has ended a session that the others need.
      if (name === 'logout') aino = await onAnotherDevice(relay, aino);
    }
    expect(refused.toSorted()).toEqual([
      'addGroupMember',
      'createGroup',
      'inviteGroupMembers',
      'putHistory',
      'putTreeNodes',
      'register',
      'report',
      'requestContact',
      'sendGroupMessage',
      'sendUserMessage',
      'submitCommit',
    ]);
    const upload = { 'tus-resumable': tusVersion, 'upload-length': '10' };
    expect(await call(relay, 'POST', blobsPath, { token: aino.token, headers: upload })).toMatchObject(full);
    const client = await clients.connect(relay.mqttUrl, aino);
    const topic = topics.userMessages(eero.id);
    expect(await puback(client, topic, outgoing(large()))).toEqual({
      reasonCode: 0x97,
      code: 'storage-full',
    });
  });

  it('lets somebody log in on a new device, read, and delete the account; says it once in the log, and takes messages again when there is room', async () => {
    const again = await onAnotherDevice(relay, eero);
    expect((await log(again, aino)).map(({ seq }) => seq)).toEqual(expect.arrayContaining([1, 2]));
    const leaving = await logIn(relay, eero);
    expect(await leaving.call('DELETE', '/user')).toMatchObject({ status: 204 });
    free = 65 * MiB;
    await eventually(async () => expect(await signUp(relay)).toHaveProperty('id'));
    const said = relay.logLines.filter((line) => /reserve|has room/.test(line));
    expect(said).toEqual([
      expect.stringContaining('but for the reserve'),
      expect.stringContaining('has room again'),
    ]);
  });
});

it('a disk whose free space can’t be read takes messages until the database itself says no', async () => {
  free = new Error('no such disk');
  const sent: number[] = [];
  await eventually(async () => {
    sent.push((await send(aino, eero, large())).status);
    expect(relay.logLines.join('')).toContain('can’t be read');
  });
  expect(new Set(sent)).toEqual(new Set([201]));
});

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
