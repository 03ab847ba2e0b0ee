import type { Kysely, Migration } from 'kysely';

/** How much of what is kept is whose, and which contact requests were declined. */
export const quotas: Migration = {
  async up(db: Kysely<unknown>) {
    // Bytes of content in the entries that a person has sent and that are kept. Those from before count nothing.
    await db.schema
      .createTable('stored_bytes')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .alterTable('welcomes')
      .addColumn('sender_id', 'text', (column) => column.references('users.id').onDelete('set null'))
      .execute();
    await db.schema.createIndex('welcomes_by_sender').on('welcomes').column('sender_id').execute();
    await db.schema
      .createTable('declined_requests')
      .addColumn('from_user_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('to_user_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      // How often, and when last.
      .addColumn('times', 'bigint', (column) => column.notNull())
      .addColumn('declined_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('declined_requests_key', ['from_user_id', 'to_user_id'])
      .execute();
    await db.schema
      .createIndex('declined_requests_by_receiver')
      .on('declined_requests')
      .column('to_user_id')
      .execute();
    await db.schema
      .createIndex('declined_requests_by_time')
      .on('declined_requests')
      .column('declined_at')
      .execute();
  },
};
