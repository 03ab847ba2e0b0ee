import { randomUUID } from 'node:crypto';
import type { Db } from './tables.ts';

/**
 * Resolves if the database answers, out of the table that serving anybody takes: with a row at a random place, so that
 * damage anywhere in it is met sooner or later, and not one of an index alone.
 */
export async function reachDatabase(db: Db): Promise<void> {
  const user = db.selectFrom('users').select('password_hash').orderBy('id').limit(1);
  const rows = await user.where('id', '>=', randomUUID()).execute();
  if (rows.length === 0) await user.execute();
}
