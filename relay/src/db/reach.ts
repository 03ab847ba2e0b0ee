import type { Db } from './tables.ts';

/** Resolves if the database answers, out of the table that serving anybody takes. */
export async function reachDatabase(db: Db): Promise<void> {
  await db.selectFrom('users').select('id').limit(1).execute();
}
