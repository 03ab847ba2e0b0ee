import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { directConversationId } from '../../contract/index.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import type { Db } from '../../src/db/tables.ts';
import { createRetentionJob, keptAtLeast } from '../../src/jobs/retention.ts';
import { createAppender } from '../../src/messaging/append/appender.ts';
import { threadEntry } from '../../src/messaging/append/threadEntry.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { insertConversation, takeSeqAndEndEpoch } from '../../src/repositories/conversations.ts';
import { insertEntry } from '../../src/repositories/entries.ts';
import { insertHistory, lockTotals, setTotals } from '../../src/repositories/history.ts';
import { putReceipt } from '../../src/repositories/receipts.ts';

const day = 24 * 60 * 60 * 1000;
/** Entries of one transaction. */
const atOnce = 100;
const bytes = { message: 600, commit: 4000, groupInfo: 6000, copy: 900 };

/**
 * Bytes in SQLite's file of an entry whose content is gone, with its index entries: its ids, its digest and what SQLite adds.
 * DATA.md, SCALE.md and HOSTING.md say it.
 */
export const placeBytes = 450;

export interface Plan {
  readonly people: number;
  /** Direct conversations of each person that they have begun. */
  readonly contacts: number;
  readonly days: number;
  /** Messages a day in each conversation. */
  readonly messages: number;
  readonly retention: { readonly days: number; readonly historyDays: number | null };
}

export interface Size {
  readonly day: number;
  readonly entries: number;
  /** Bytes of content that is kept, and of content that was ever stored. */
  readonly kept: number;
  readonly stored: number;
  /** Bytes of sealed copies. */
  readonly copies: number;
  /** Bytes of the database file. */
  readonly file: number;
}

interface Someone {
  readonly id: string;
  readonly deviceId: string;
  readonly sessionId: string;
}

/**
 * Lives through the days of a relay on SQLite: people write to each other, acknowledge and leave copies, a commit a week
 * ends each epoch, and the retention job runs each night. Every tenth person has a browser that never comes back, which
 * keeps what they are sent for as long as it may be kept.
 * @param told is given the size after each day
 */
export async function live(dataDir: string, plan: Plan, told: (size: Size) => void): Promise<void> {
  const database = await openSqlite(dataDir, threadEntry);
  const { db } = database;
  let now = Date.parse('2026-01-01T00:00:00.000Z');
  const appender = await createAppender(database);
  const job = createRetentionJob({
    database,
    retention: plan.retention,
    clock: () => now,
    metrics: new Metrics(),
    rest: async () => {},
    elapsed: () => now,
    log: { error: () => {} },
  });
  try {
    const people: Someone[] = [];
    for (let index = 0; index < plan.people; index += 1) people.push(await join(db, index, now));
    const talks: { id: string; pair: [Someone, Someone]; epoch: number }[] = [];
    for (const [index, one] of people.entries()) {
      for (let step = 1; step <= plan.contacts; step += 1) {
        const other = people[(index + step) % people.length] as Someone;
        const id = directConversationId(one.id, other.id);
        await meet(db, id, [one, other], now);
        talks.push({ id, pair: [one, other], epoch: 1 });
      }
    }
    let stored = 0;
    for (let today = 1; today <= plan.days; today += 1) {
      now += day / 2;
      for (const talk of talks) {
        if (today % 7 === 0) {
          const seq = await takeSeqAndEndEpoch(db, talk.id, talk.epoch, randomBytes(bytes.groupInfo));
          const content = randomBytes(bytes.commit);
          const { id: senderId, deviceId: senderDeviceId } = talk.pair[0];
          const commit = { kind: 'commit', epoch: talk.epoch, content, createdAt: now } as const;
          const entry = { ...commit, conversationId: talk.id, seq: seq ?? 0, id: randomUUID() };
          await insertEntry(db, { ...entry, senderId, senderDeviceId });
          talk.epoch += 1;
          stored += bytes.commit;
        }
      }
      const batch = talks.flatMap(({ epoch, id, pair }) =>
        Array.from({ length: plan.messages }, (_, turn) => {
          const [from, to] = turn % 2 === 0 ? pair : [pair[1], pair[0]];
          return {
            conversationId: id,
            recipientId: to.id,
            messageId: randomUUID(),
            epoch,
            content: randomBytes(bytes.message).toString('base64url'),
            senderId: from.id,
            sessionId: from.sessionId,
            start: null,
          };
        }),
      );
      for (let at = 0; at < batch.length; at += atOnce) {
        const outcomes = await appender.append(batch.slice(at, at + atOnce), now);
        const refused = outcomes.find(({ type }) => type === 'refused');
        if (refused !== undefined) throw new Error(JSON.stringify(refused));
      }
      stored += batch.length * bytes.message;
      for (const talk of talks) await acknowledge(db, talk);
      const perPerson = Math.round((2 * batch.length) / people.length);
      for (const { id } of people) await leaveCopies(db, id, perPerson, now);
      now += keptAtLeast;
      await job.run();
      now += day / 2 - keptAtLeast;
      told({ day: today, stored, ...(await measure(db)) });
    }
  } finally {
    await job.close();
    await database.close();
  }
}

async function join(db: Db, index: number, now: number): Promise<Someone> {
  const [id, deviceId, sessionId] = [randomUUID(), randomUUID(), randomUUID()];
  const name = `person${index}`;
  const names = { username: name, username_key: name, username_skeleton: name, email: name, email_key: name };
  const password = { password_hash: '', password_salt: Buffer.alloc(16), password_ops_limit: 3 };
  await db
    .insertInto('users')
    .values({
      id,
      ...names,
      ...password,
      password_mem_limit: 1,
      full_name: '',
      consented_at: now,
      created_at: now,
    })
    .execute();
  const idle = index % 10 === 0 ? [randomUUID()] : [];
  for (const each of [deviceId, ...idle]) {
    const device = { id: each, user_id: id, name, certificate: randomBytes(300) };
    await db
      .insertInto('devices')
      .values({ ...device, created_at: now, last_seen_at: now })
      .execute();
  }
  const session = { id: sessionId, user_id: id, device_id: deviceId, created_at: now };
  await db
    .insertInto('sessions')
    .values({ ...session, expires_at: now + 1000 * day, ended_at: null })
    .execute();
  return { id, deviceId, sessionId };
}

async function meet(db: Db, id: string, pair: [Someone, Someone], now: number): Promise<void> {
  const [one, other] = pair;
  for (const [from, to] of [pair, [other, one]] as const)
    await db
      .insertInto('contacts')
      .values({ user_id: from.id, contact_id: to.id, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  const groupInfo = randomBytes(bytes.groupInfo);
  await insertConversation(db, { id, userIds: [one.id, other.id], groupInfo, now });
}

async function acknowledge(
  db: Db,
  { epoch, id, pair }: { id: string; pair: [Someone, Someone]; epoch: number },
): Promise<void> {
  const { last_seq: position } = await db
    .selectFrom('conversations')
    .select('last_seq')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  for (const { deviceId } of pair) {
    const signed = { sealed: randomBytes(93), signature: randomBytes(64) };
    await putReceipt(db, id, { deviceId, epoch, position, ...signed });
  }
}

async function leaveCopies(db: Db, userId: string, count: number, now: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const totals = await lockTotals(tx, userId);
    const items = Array.from({ length: count }, (_, index) => ({
      id: randomUUID(),
      conversationId: `direct:${userId}`,
      seq: null,
      sealed: randomBytes(bytes.copy),
      position: totals.lastPosition + index + 1,
    }));
    await insertHistory(tx, userId, items, now);
    const lastPosition = totals.lastPosition + count;
    await setTotals(tx, userId, { ...totals, lastPosition, bytes: totals.bytes + count * bytes.copy });
  });
}

async function measure(db: Db): Promise<Omit<Size, 'day' | 'stored'>> {
  const { rows } = await sql<Omit<Size, 'day' | 'stored'>>`
    select count(*) as entries, coalesce(sum(length(content)), 0) as kept,
      (select coalesce(sum(bytes), 0) from history_totals) as copies,
      (select page_count from pragma_page_count) * (select page_size from pragma_page_size) as file
    from entries`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('nothing was measured');
  return row;
}
