import type { Kysely, Migration } from 'kysely';

/** Keeps the changes of who owns an account, for the person's other devices to be told of. */
export const accountChanges: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('account_changes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('kind', 'text', (column) => column.notNull())
      // The session that made it, which may be bound to its device later. It stays here when the session is gone.
      .addColumn('session_id', 'text', (column) => column.notNull())
      // The device at the time, by the name that it had; null for a session without one.
      .addColumn('device_id', 'text')
      .addColumn('device_name', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('account_changes_by_user').on('account_changes').column('user_id').execute();
  },
};
