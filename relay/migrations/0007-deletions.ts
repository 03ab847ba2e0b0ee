import type { Kysely, Migration } from 'kysely';

/**
 * Keeps the ids of deleted accounts for the purge job. Such an id means nobody any more: no other table has
 * it.
 */
export const deletions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('deleted_accounts')
      .addColumn('user_id', 'text', (column) => column.primaryKey())
      .addColumn('deleted_at', 'bigint', (column) => column.notNull())
      // Set once the purge job has looked for messages that were not emptied.
      .addColumn('emptied_at', 'bigint')
      .execute();
  },
};
