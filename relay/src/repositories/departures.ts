import type { Db } from '../db/tables.ts';

export interface Departure {
  readonly userId: string;
  readonly statement: Buffer;
}

/** Who left a group's conversation and is still in its tree. */
export async function departuresOf(db: Db, conversationId: string): Promise<Departure[]> {
  const rows = await db
    .selectFrom('departures')
    .select(['user_id', 'statement'])
    .where('conversation_id', '=', conversationId)
    .orderBy('user_id')
    .execute();
  return rows.map((row) => ({ userId: row.user_id, statement: row.statement }));
}

export async function insertDeparture(
  db: Db,
  { conversationId, userId, statement }: Departure & { conversationId: string },
): Promise<void> {
  await db
    .insertInto('departures')
    .values({ conversation_id: conversationId, user_id: userId, statement })
    .onConflict((conflict) => conflict.columns(['conversation_id', 'user_id']).doUpdateSet({ statement }))
    .execute();
}

/** For people whose leaves were removed, or who are members again. */
export async function deleteDepartures(
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
