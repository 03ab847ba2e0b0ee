import type { Kysely, Migration } from 'kysely';

/** How far the log of each conversation has been emptied, and the Welcomes that nobody has fetched in time. */
export const retention: Migration = {
  async up(db: Kysely<unknown>) {
    // Beside `conversations`, whose rows SQLite would read through the GroupInfo for one more column.
    await db.schema
      .createTable('emptied_logs')
      .addColumn('conversation_id', 'text', (column) =>
        column.primaryKey().references('conversations.id').onDelete('cascade'),
      )
      // No entry up to this position has content any more.
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('welcomes_by_time').on('welcomes').column('created_at').execute();
  },
};
