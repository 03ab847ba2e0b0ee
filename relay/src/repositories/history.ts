import { sql } from 'kysely';
import type { Db } from '../db/tables.ts';
import { countWithin } from './entries.ts';

export interface HistoryItemRow {
  /** The message's id. */
  readonly id: string;
  readonly conversationId: string;
  readonly seq: number | null;
  readonly sealed: Buffer;
}

export interface StoredHistoryItemRow extends HistoryItemRow {
  /** Counts up in the order of storing. */
  readonly position: number;
}

export interface HistoryTotals {
  readonly lastPosition: number;
  /** The bytes of all copies together. */
  readonly bytes: number;
  /** When the person switched the message backup off; null while it is on. */
  readonly switchedOffAt: number | null;
}

/** The totals of a person's history, which other transactions can't change until this one has ended. */
export async function lockTotals(db: Db, userId: string): Promise<HistoryTotals> {
  const row = await db
    .insertInto('history_totals')
    .values({ user_id: userId, last_position: 0, bytes: 0 })
    // Changes nothing, but returns the row that is there, and locks it.
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ user_id: userId }))
    .returning(['last_position', 'bytes', 'switched_off_at'])
    .executeTakeFirstOrThrow();
  return { lastPosition: row.last_position, bytes: row.bytes, switchedOffAt: row.switched_off_at };
}

export async function setTotals(db: Db, userId: string, totals: HistoryTotals): Promise<void> {
  await db
    .updateTable('history_totals')
    .set({
      last_position: totals.lastPosition,
      bytes: totals.bytes,
      switched_off_at: totals.switchedOffAt,
    })
    .where('user_id', '=', userId)
    .execute();
}

/** Returns whether the person has switched the message backup off. */
export async function isSwitchedOff(db: Db, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('history_totals')
    .select('switched_off_at')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return (row?.switched_off_at ?? null) !== null;
}

/** Returns the ids of those of these messages that a person has copies of. */
export async function storedIds(db: Db, userId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('history_items')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', 'in', ids)
    .execute();
  return new Set(rows.map((row) => row.id));
}

export async function insertHistory(
  db: Db,
  userId: string,
  items: readonly StoredHistoryItemRow[],
  now: number,
): Promise<void> {
  await db
    .insertInto('history_items')
    .values(
      items.map((item) => ({
        user_id: userId,
        position: item.position,
        id: item.id,
        conversation_id: item.conversationId,
        seq: item.seq,
        sealed: item.sealed,
        stored_at: now,
      })),
    )
    .execute();
}

/**
 * Copies above a position, lowest first.
 * @param page.maxBytes no more than this altogether, except that the first copy always comes
 */
export async function historyOf(
  db: Db,
  userId: string,
  page: { after: number; limit: number; maxBytes: number },
): Promise<StoredHistoryItemRow[]> {
  const sizes = await db
    .selectFrom('history_items')
    .select(['position', sql<number>`length(sealed)`.as('size')])
    .where('user_id', '=', userId)
    .where('position', '>', page.after)
    .orderBy('position')
    .limit(page.limit)
    .execute();
  const last = sizes[countWithin(sizes, page.maxBytes) - 1];
  if (last === undefined) return [];
  const rows = await db
    .selectFrom('history_items')
    .select(['id', 'position', 'conversation_id', 'seq', 'sealed'])
    .where('user_id', '=', userId)
    .where('position', '>', page.after)
    .where('position', '<=', last.position)
    .orderBy('position')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    position: row.position,
    conversationId: row.conversation_id,
    seq: row.seq,
    sealed: row.sealed,
  }));
}

/**
 * @param conversationId those of one conversation only
 * @returns how many bytes they had
 */
export async function deleteHistory(db: Db, userId: string, conversationId?: string): Promise<number> {
  const deleted = await db
    .deleteFrom('history_items')
    .where('user_id', '=', userId)
    .$if(conversationId !== undefined, (query) => query.where('conversation_id', '=', conversationId ?? ''))
    .returning(sql<number>`length(sealed)`.as('size'))
    .execute();
  return bytesOf(deleted);
}

/** Deletes the copies of these messages. @returns how many bytes they had */
export async function deleteCopies(db: Db, userId: string, ids: readonly string[]): Promise<number> {
  const deleted = await db
    .deleteFrom('history_items')
    .where('user_id', '=', userId)
    .where('id', 'in', ids)
    .returning(sql<number>`length(sealed)`.as('size'))
    .execute();
  return bytesOf(deleted);
}

/** Deletes a person's oldest copies, those that were stored at `until` or before. @returns how many */
export async function deleteOldHistory(
  db: Db,
  userId: string,
  until: number,
  limit: number,
): Promise<number> {
  const oldest = await db
    .selectFrom('history_items')
    .select('stored_at')
    .where('user_id', '=', userId)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined || oldest.stored_at > until) return 0;
  return db.transaction().execute(async (tx) => {
    const totals = await lockTotals(tx, userId);
    const deleted = await tx
      .deleteFrom('history_items')
      .where('user_id', '=', userId)
      .where('stored_at', '<=', until)
      .where('position', 'in', (query) =>
        query
          .selectFrom('history_items as oldest')
          .select('oldest.position')
          .where('oldest.user_id', '=', userId)
          .orderBy('oldest.position')
          .limit(limit),
      )
      .returning(sql<number>`length(sealed)`.as('size'))
      .execute();
    await setTotals(tx, userId, { ...totals, bytes: totals.bytes - bytesOf(deleted) });
    return deleted.length;
  });
}

const bytesOf = (rows: readonly { readonly size: number }[]) => rows.reduce((sum, { size }) => sum + size, 0);
