import { type Kysely, type Migration, sql } from 'kysely';

export const notifications: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('notifications')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('type', 'text', (column) =>
        column.notNull().check(sql`type in ('message', 'contact_request', 'contact_accepted')`),
      )
      .addColumn('sender_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      // When it happened last.
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('read_at', 'bigint')
      // One of a kind for each sender, so that they don't pile up.
      .addUniqueConstraint('notifications_once', ['user_id', 'sender_id', 'type'])
      .execute();
    await db.schema.createIndex('notifications_by_sender').on('notifications').column('sender_id').execute();
  },
};
