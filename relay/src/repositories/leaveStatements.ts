import type { Db } from '../db/tables.ts';

export interface LeaveStatementRow {
  readonly userId: string;
  readonly statement: Buffer;
}

/** The statements of people who left a group's conversation and are still in its tree. */
export async function leaveStatementsOf(db: Db, conversationId: string): Promise<LeaveStatementRow[]> {
  const rows = await db
    .selectFrom('departures')
    .select(['user_id', 'statement'])
    .where('conversation_id', '=', conversationId)
    .where('removed_at', 'is', null)
    .orderBy('user_id')
    .execute();
  return rows.map((row) => ({ userId: row.user_id, statement: row.statement }));
}

/** The statement that a person left with, removed from the tree or not; null for who is a member or left without one. */
export async function leaveStatementOf(
  db: Db,
  conversationId: string,
  userId: string,
): Promise<Buffer | null> {
  const row = await db
    .selectFrom('departures')
    .select('statement')
    .where('conversation_id', '=', conversationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.statement ?? null;
}

export async function insertLeaveStatement(
  db: Db,
  { conversationId, userId, statement }: LeaveStatementRow & { conversationId: string },
): Promise<void> {
  await db
    .insertInto('departures')
    .values({ conversation_id: conversationId, user_id: userId, statement })
    .onConflict((conflict) =>
      conflict.columns(['conversation_id', 'user_id']).doUpdateSet({ statement, removed_at: null }),
    )
    .execute();
}

/**
 * Keeps the statements of people whose leaves a commit has removed: their own devices may still ask for them.
 */
export async function markLeavesRemoved(
  db: Db,
  conversationId: string,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  if (userIds.length === 0) return;
  await db
    .updateTable('departures')
    .set({ removed_at: now })
    .where('conversation_id', '=', conversationId)
    .where('user_id', 'in', userIds)
    .execute();
}

/** Deletes the statements of people who are members again. */
export async function deleteLeaveStatements(
  db: Db,
  conversationId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return;
  await db
    .deleteFrom('departures')
    .where('conversation_id', '=', conversationId)
    .where('user_id', 'in', userIds)
    .execute();
}
