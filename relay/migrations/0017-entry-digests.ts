import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** Keeps the digest of an entry, for the running hash of those who read the log after its content or sender is gone. */
export const entryDigests = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('entries').addColumn('digest', types.bytes).execute();
  },
});
