import type { Db } from '../db/tables.ts';

export async function isSuspended(db: Db, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('suspensions')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Suspending again leaves the time as it is. */
export async function insertSuspension(db: Db, userId: string, now: number): Promise<void> {
  await db
    .insertInto('suspensions')
    .values({ user_id: userId, suspended_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** False if the account was not suspended. */
export async function deleteSuspension(db: Db, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('suspensions')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}
