import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** Sealed copies of messages, for a person's own other devices. */
export const history = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('history_items')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('position', 'bigint', (column) => column.notNull())
      // The message's id.
      .addColumn('id', 'text', (column) => column.notNull())
      // Not a foreign key: the copy is kept when the conversation is gone.
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('seq', 'bigint')
      .addColumn('sealed', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('history_items_key', ['user_id', 'position'])
      .addUniqueConstraint('history_items_once', ['user_id', 'id'])
      .execute();

    // The last position given, and the bytes of all copies together.
    await db.schema
      .createTable('history_totals')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('last_position', 'bigint', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .execute();
  },
});
