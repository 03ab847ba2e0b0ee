import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/**
 * Keeps the signed statement of who left a group until a commit has removed their leaves from the group's
 * tree.
 */
export const departures = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('departures')
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().references('conversations.id').onDelete('cascade'),
      )
      // Not a foreign key: the leaves stay in the tree when the account is gone.
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('statement', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('departures_key', ['conversation_id', 'user_id'])
      .execute();
  },
});
