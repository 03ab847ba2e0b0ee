import type { Kysely, Migration } from 'kysely';

/** Accounts that the operator has suspended, and news of the operator's that running relays have yet to tell. */
export const suspensions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('suspensions')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('suspended_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('operator_news')
      .addColumn('id', 'text', (column) => column.primaryKey())
      // In the order of `position`, for one command.
      .addColumn('position', 'bigint', (column) => column.notNull())
      .addColumn('news', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
