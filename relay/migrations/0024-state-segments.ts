import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** Keeps the segments of a large account state beside it, so that a change replaces those that it changes. */
export const stateSegments = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('account_state_segments')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('sealed', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('account_state_segments_key', ['user_id', 'hash'])
      .execute();
  },
});
