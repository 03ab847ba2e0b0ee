import type { Kysely, Migration } from 'kysely';

/** People whom a person has blocked, and memberships that are held back from people who have blocked the creator. */
export const blocks: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('blocks')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('blocked_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      // How far their direct conversation had come: what follows is held back from the person who blocked.
      .addColumn('seen_seq', 'bigint', (column) => column.notNull())
      .addColumn('seen_epoch', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('blocks_key', ['user_id', 'blocked_id'])
      .execute();
    await db.schema.createIndex('blocks_by_blocked').on('blocks').column('blocked_id').execute();
    // 0 or 1: this member has blocked the creator, and hears nothing of the group.
    await db.schema
      .alterTable('participants')
      .addColumn('held', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
