import { sql } from 'kysely';
import type { Db } from '../db/tables.ts';
import { lockConversation } from './conversations.ts';
import type { StoredEntry } from './entries.ts';
import { digestOf } from './entryDigest.ts';
import { lockStoredBytes, releaseBytes } from './quotas.ts';

export interface LogReach {
  readonly conversationId: string;
  readonly lastSeq: number;
  /** No entry up to here has content any more. */
  readonly emptiedSeq: number;
}

/** A device of a participant that isn't revoked. */
export interface Reader {
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
  /** The position of the commit that let its person in. */
  readonly joinedSeq: number;
  /** It has acknowledged the log up to here, signed; 0 where it has acknowledged nothing. */
  readonly position: number;
}

export interface EntrySize {
  readonly seq: number;
  readonly createdAt: number;
  /** Bytes of content. */
  readonly size: number;
}

/** Conversations in the order of their ids, emptied or not: a filter could go through millions in one statement. */
export async function logsAfter(db: Db, conversationId: string, limit: number): Promise<LogReach[]> {
  const rows = await db
    .selectFrom('conversations')
    .leftJoin('emptied_logs', 'emptied_logs.conversation_id', 'conversations.id')
    .select(['conversations.id', 'conversations.last_seq', 'emptied_logs.seq'])
    .where('conversations.id', '>', conversationId)
    .orderBy('conversations.id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ conversationId: row.id, lastSeq: row.last_seq, emptiedSeq: row.seq ?? 0 }));
}

/** The devices of the participants of these conversations, by conversation. */
export async function readersOf(
  db: Db,
  conversationIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Reader[]>> {
  const readers = new Map<string, Reader[]>(conversationIds.map((id) => [id, []]));
  if (conversationIds.length === 0) return readers;
  const rows = await db
    .selectFrom('participants')
    .innerJoin('devices', 'devices.user_id', 'participants.user_id')
    .leftJoin('receipts', (join) =>
      join
        .onRef('receipts.conversation_id', '=', 'participants.conversation_id')
        .onRef('receipts.device_id', '=', 'devices.id'),
    )
    .select(['participants.conversation_id', 'participants.joined_seq', 'devices.created_at'])
    .select('receipts.position')
    .where('participants.conversation_id', 'in', conversationIds)
    .execute();
  for (const row of rows) {
    readers.get(row.conversation_id)?.push({
      registeredAt: row.created_at,
      joinedSeq: row.joined_seq,
      position: row.position ?? 0,
    });
  }
  return readers;
}

/** The sizes of the entries above a position, ascending. */
export async function sizesAbove(
  db: Db,
  conversationId: string,
  seq: number,
  limit: number,
): Promise<EntrySize[]> {
  const rows = await db
    .selectFrom('entries')
    .select(['seq', 'created_at', sql<number>`length(content)`.as('size')])
    .where('conversation_id', '=', conversationId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ seq: row.seq, createdAt: row.created_at, size: row.size }));
}

/**
 * Deletes the content of entries, whose places and digests stay, and notes how far the log is empty.
 * @param emptying.entries those with content, as they are stored
 * @param emptying.upTo the position up to which none has content then
 * @param movesRows on SQLite, which leaves a row that has shrunk where it was, and its page as large as before
 */
export async function emptyLog(
  db: Db,
  emptying: { conversationId: string; entries: readonly StoredEntry[]; upTo: number },
  movesRows: boolean,
): Promise<void> {
  const { conversationId, entries, upTo } = emptying;
  const senderIds = new Set(entries.map(({ senderId }) => senderId));
  await db.transaction().execute(async (tx) => {
    // As where something is stored: the counts first, then the conversation.
    await lockStoredBytes(tx, [...senderIds]);
    await lockConversation(tx, conversationId);
    const conversation = await tx
      .selectFrom('conversations')
      .select('id')
      .where('id', '=', conversationId)
      .executeTakeFirst();
    if (conversation === undefined) return;
    const released = new Map<string, number>();
    for (const entry of entries) {
      const { content, senderId } = entry;
      const { numUpdatedRows } = await tx
        .updateTable('entries')
        .set({ content: Buffer.alloc(0), digest: digestOf(entry) })
        .$if(movesRows, (update) => update.set(sql`rowid`, sql`(select max(rowid) + 1 from entries)`))
        .where('conversation_id', '=', conversationId)
        .where('seq', '=', entry.seq)
        // Another relay may have emptied it since it was read, and its bytes must count once.
        .where(sql<number>`length(content)`, '>', 0)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows > 0n) released.set(senderId, (released.get(senderId) ?? 0) + content.length);
    }
    await releaseBytes(tx, released);
    await tx
      .insertInto('emptied_logs')
      .values({ conversation_id: conversationId, seq: upTo })
      .onConflict((conflict) =>
        conflict.column('conversation_id').doUpdateSet({ seq: upTo }).where('emptied_logs.seq', '<', upTo),
      )
      .execute();
  });
}

/** The position up to which no entry of a log has content any more. */
export async function emptiedUpTo(db: Db, conversationId: string): Promise<number> {
  const row = await db
    .selectFrom('emptied_logs')
    .select('seq')
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

/** Notes that content is deleted after so many days now. */
export async function noteDays(db: Db, days: number, now: number): Promise<void> {
  await db
    .insertInto('retention_days')
    .values({ days, used_at: now })
    .onConflict((conflict) => conflict.column('days').doUpdateSet({ used_at: now }))
    .execute();
}

/** The fewest days after which content has been deleted since a time; null where none was. */
export async function fewestDays(db: Db, since: number): Promise<number | null> {
  const row = await db
    .selectFrom('retention_days')
    .select(({ fn }) => fn.min('days').as('days'))
    .where('used_at', '>=', since)
    .executeTakeFirst();
  return row?.days ?? null;
}

/** Deletes Welcomes that nobody has fetched since. @returns how many these were */
export async function deleteOldWelcomes(db: Db, until: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('welcomes')
    .where('id', 'in', (old) =>
      old
        .selectFrom('welcomes')
        .select('id')
        .where('created_at', '<=', until)
        .orderBy('created_at')
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** People who have sealed copies, in the order of their ids. */
export async function peopleWithCopies(db: Db, userId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('history_totals')
    .select('user_id')
    .where('user_id', '>', userId)
    .orderBy('user_id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.user_id);
}
