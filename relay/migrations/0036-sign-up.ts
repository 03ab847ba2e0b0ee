import type { Kysely, Migration } from 'kysely';

/** The operator's setting of who may sign up, and invitations. */
export const signUp: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('operator_settings')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('invitations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      // SHA-256 of the code, in hexadecimal: a copy of the database lets nobody in.
      .addColumn('code_hash', 'text', (column) => column.notNull().unique())
      // The accounts that it is good for, and those that came by it.
      .addColumn('uses', 'bigint', (column) => column.notNull())
      .addColumn('used', 'bigint', (column) => column.notNull().defaultTo(0))
      // The operator's own words.
      .addColumn('note', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .execute();
  },
};
