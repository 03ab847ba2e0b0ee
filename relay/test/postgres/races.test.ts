import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { directConversationId, type LogEntry, limits } from '../../contract/index.ts';
import { entriesAt } from '../../src/repositories/entries.ts';
import { emptyLog } from '../../src/repositories/retention.ts';
import { certificateOf } from '../devices.ts';
import { eventually } from '../eventually.ts';
import {
  base64Url,
  befriend,
  logIn,
  onAnotherDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { commitBody, messageBody, send, seqs, submitCommit } from '../http/conversation.ts';

// Races that SQLite can't have, because its transactions run one after another.

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay({ environment: { DATABASE_POOL_SIZE: '20', RATE_LIMITS: 'off' } });
});
afterAll(() => relay.close());

const times = <T>(count: number, task: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_none, index) => task(index)));

async function connected(): Promise<Client> {
  const client = new Client(relay.relay.services.config.databaseUrl ?? '');
  await client.connect();
  return client;
}

/** Counts the Welcomes of a conversation in the database. */
async function welcomesStored(conversationId: string): Promise<number> {
  const client = await connected();
  const { rowCount } = await client.query('select id from welcomes where conversation_id = $1', [
    conversationId,
  ]);
  await client.end();
  return rowCount ?? 0;
}

async function twoInConversation() {
  const [one, other] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(one, other);
  const conversationId = directConversationId(one.id, other.id);
  await submitCommit(one, conversationId, commitBody(0));
  return { one, other, conversationId };
}

it('a message that comes many times at once exists once, and every sender gets the same answer', async () => {
  const { one, other } = await twoInConversation();
  const body = messageBody(1);
  const answers = await times(16, () => send(one, other, body));
  expect(new Set(answers.map((answer) => JSON.stringify([answer.status, answer.body]))).size).toBe(1);
  expect(answers[0]?.status).toBe(201);
  const log = await one.call<LogEntry[]>('GET', `/messages/user/${other.id}`);
  expect(seqs(log.body)).toEqual([1, 2]);
});

it('one id used in two conversations at once is a message in one of them', async () => {
  const [first, second] = [await twoInConversation(), await twoInConversation()];
  const messageId = randomUUID();
  const answers = await Promise.all([
    send(first.one, first.other, messageBody(1, messageId)),
    send(second.one, second.other, messageBody(1, messageId)),
  ]);
  expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([201, 409]);
});

it('positions have no gap and no duplicate while messages and commits come from both sides', async () => {
  const { one, other, conversationId } = await twoInConversation();
  const answers = await times(40, async (index) => {
    const [from, to] = index % 2 === 0 ? [one, other] : [other, one];
    if (index % 10 === 9) return submitCommit(from, conversationId, commitBody(1));
    return send(from, to, messageBody(1));
  });
  expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  const stored = answers.filter(({ status }) => status === 201).map(({ body }) => body.seq);
  const log = await one.call<LogEntry[]>('GET', `/messages/user/${other.id}?limit=200`);
  expect(seqs(log.body)).toEqual(Array.from({ length: stored.length + 1 }, (_none, index) => index + 1));
  expect(stored.toSorted((a, b) => a - b)).toEqual(seqs(log.body).slice(1));
  expect(log.body.filter((entry) => entry.kind === 'commit')).toHaveLength(2);
});

it('every KeyPackage is given once, and none is missed', async () => {
  const [one, other] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(one, other);
  const keyPackages = Array.from({ length: 12 }, () => base64Url(100));
  await other.call('POST', '/key-packages', { keyPackages });
  const claims = await times(12, () =>
    one.call<{ keyPackage: string }[]>('POST', `/users/${other.id}/key-packages/claim`),
  );
  expect(claims.flatMap(({ body }) => body.map((claim) => claim.keyPackage)).sort()).toEqual(
    keyPackages.sort(),
  );
});

it('a limit holds against those who come at once', async () => {
  const person = await signUp(relay);
  // Fewer sessions than devices fit beside one another, so some devices are those of sessions that are over.
  const former = await times(8, () => onAnotherDevice(relay, person));
  for (const device of former) await device.call('POST', '/logout');
  const sessions = await times(limits.devicesPerUser - former.length + 4, () => logIn(relay, person));
  const answers = await Promise.all(
    sessions.map((session) => {
      const id = randomUUID();
      const certificate = certificateOf(person.id, id);
      return session.call('PUT', `/devices/${id}`, { name: 'A browser', certificate });
    }),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(limits.devicesPerUser - former.length);
});

it('a Welcome is gone when the last of its devices has taken it, even if all take it at once', async () => {
  const { one, other, conversationId } = await twoInConversation();
  const devices = [other, ...(await times(5, () => onAnotherDevice(relay, other)))];
  const welcome = base64Url(100);
  await submitCommit(one, conversationId, {
    ...commitBody(1),
    welcomes: [{ deviceIds: devices.map(({ deviceId }) => deviceId), welcome }],
  });
  const mailboxes = await Promise.all(
    devices.map(async (device) => (await device.call<{ id: string }[]>('GET', '/welcomes')).body),
  );
  const taken = await Promise.all(
    devices.map((device, index) => device.call('DELETE', `/welcomes/${mailboxes[index]?.[0]?.id}`)),
  );
  expect(taken.map(({ status }) => status)).toEqual(devices.map(() => 204));
  expect(await welcomesStored(conversationId)).toBe(0);
});

it('a log that is emptied while its sender writes on keeps nobody waiting for each other', async () => {
  const { one, other, conversationId } = await twoInConversation();
  await send(one, other, messageBody(1));
  const { db } = relay.relay.database;
  const entries = await entriesAt(db, conversationId, [1, 2]);
  const writer = await connected();
  // As a message is stored: its bytes are counted, and then it gets its position.
  await writer.query('begin');
  await writer.query('update stored_bytes set bytes = bytes + 1 where user_id = $1', [one.id]);
  const emptied = emptyLog(db, { conversationId, entries, upTo: 2 }, false);
  await eventually(async () => {
    const { rowCount } = await writer.query('select from pg_locks where not granted');
    expect(rowCount).toBeGreaterThan(0);
  });
  await writer.query("set lock_timeout = '50ms'");
  await writer.query('update conversations set last_seq = last_seq + 1 where id = $1', [conversationId]);
  await writer.query('commit');
  await emptied;
  await writer.end();
});
