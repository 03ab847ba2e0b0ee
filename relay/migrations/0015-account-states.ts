import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** Keeps the state that a person's devices share, sealed under keys that the vault brings them. */
export const accountStates = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('account_states')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('sealed', types.bytes, (column) => column.notNull())
      .execute();
  },
});
