import type { Kysely, Migration } from 'kysely';

/** People who want to be asked before somebody puts them into a group, and the questions that wait for them. */
export const groupInvitations: Migration = {
  async up(db: Kysely<unknown>) {
    // 0 or 1.
    await db.schema
      .alterTable('users')
      .addColumn('asked_first', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createTable('group_invitations')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('group_id', 'text', (column) => column.notNull().references('groups.id').onDelete('cascade'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      // Null until the person has accepted it.
      .addColumn('accepted_at', 'bigint')
      .addPrimaryKeyConstraint('group_invitations_key', ['user_id', 'group_id'])
      .execute();
    await db.schema
      .createIndex('group_invitations_by_group')
      .on('group_invitations')
      .column('group_id')
      .execute();
  },
};
