import { sql } from 'kysely';
import type { Db } from './tables.ts';

/** Resolves if the database answers. */
export async function reachDatabase(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
