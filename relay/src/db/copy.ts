import { type Kysely, sql } from 'kysely';
import type { Db, Tables } from './tables.ts';

/** Every table but SQLite's own index of names, each after those that its rows refer to. */
export const tablesInOrder = [
  'users',
  'vaults',
  'devices',
  'sessions',
  'key_packages',
  'last_resort_key_packages',
  'contact_requests',
  'contacts',
  'conversations',
  'participants',
  'entries',
  'welcomes',
  'welcome_deliveries',
  'groups',
  'past_participants',
  'notifications',
  'revoked_devices',
  'history_items',
  'history_totals',
  'deleted_accounts',
  'departures',
  'proof_nonces',
  'former_vaults',
  'account_changes',
  'account_states',
  'receipts',
  'account_state_segments',
  'emptied_logs',
  'stored_bytes',
  'declined_requests',
  'blocks',
  'suspensions',
  'operator_news',
  'operator_settings',
  'invitations',
  'reports',
  'trees',
  'tree_nodes',
  'group_invitations',
  'retention_days',
  'blobs',
  'blob_totals',
  'deleted_blobs',
  'email_codes',
] as const satisfies readonly (keyof Tables)[];

/** Rows that are in memory at a time. The largest have a megabyte. */
const rowsAtOnce = 100;

type CopiedTable = (typeof tablesInOrder)[number];

/** Returns whether somebody has an account here. */
export async function hasPeople(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Copies every row of SQLite into another database of the same schema, in which nobody has an account.
 * @param to in a transaction: all of it is there, or nothing
 * @returns the number of rows
 */
export async function copyRows(from: Db, to: Db): Promise<number> {
  let copied = 0;
  for (const table of tablesInOrder) copied += await copyTable(from, to, table);
  return copied;
}

async function copyTable(from: Db, to: Db, table: CopiedTable): Promise<number> {
  // Rows that a new relay has made there by itself.
  await to.deleteFrom(table).execute();
  let copied = 0;
  let last = 0;
  while (true) {
    const { rows } = await sql<Record<string, unknown> & { copied_row: number }>`
      select rowid as copied_row, * from ${sql.table(table)}
        where rowid > ${last} order by rowid limit ${rowsAtOnce}`.execute(from);
    const end = rows.at(-1);
    if (end === undefined) return copied;
    last = end.copied_row;
    copied += rows.length;
    const values = rows.map(({ copied_row: _number, ...row }) => row);
    // Rows are copied as they are, whatever their table's columns.
    await (to as unknown as Kysely<Record<string, Record<string, unknown>>>)
      .insertInto(table)
      .values(values)
      .execute();
  }
}
