import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** A group is a conversation whose participants are its members. */
export const groups = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('groups')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().unique().references('conversations.id').onDelete('cascade'),
      )
      // Null once the creator has deleted their account: the group is its members' all the same.
      .addColumn('creator_id', 'text', (column) => column.references('users.id').onDelete('set null'))
      // Sealed by the members under a key of this epoch.
      .addColumn('sealed_name', types.bytes, (column) => column.notNull())
      .addColumn('name_epoch', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('groups_by_creator').on('groups').column('creator_id').execute();

    // Position of the commit that let this person in: nothing before it is theirs to fetch.
    await db.schema
      .alterTable('participants')
      .addColumn('joined_seq', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();

    // The conversations that people have left: deleting an account finds by it the messages written there.
    await db.schema
      .createTable('past_participants')
      // Not a foreign key: it is needed when the account is gone.
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) =>
        column.notNull().references('conversations.id').onDelete('cascade'),
      )
      .addPrimaryKeyConstraint('past_participants_key', ['user_id', 'conversation_id'])
      .execute();
    await db.schema
      .createIndex('past_participants_by_conversation')
      .on('past_participants')
      .column('conversation_id')
      .execute();
  },
});
