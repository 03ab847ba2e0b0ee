import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

export const accountKeys = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    // The key that certifies new devices; null for an account that has never moved on to another one.
    await db.schema.alterTable('users').addColumn('account_key', types.bytes).execute();
  },
});
