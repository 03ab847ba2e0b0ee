import type { Kysely, Migration } from 'kysely';

/** The age of sealed copies; that of those from before counts from here on. */
export const historyAge: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('history_items')
      .addColumn('stored_at', 'bigint', (column) => column.notNull().defaultTo(Date.now()))
      .execute();
  },
};
