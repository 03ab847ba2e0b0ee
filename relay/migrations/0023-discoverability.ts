import { type Kysely, type Migration, sql } from 'kysely';

/** By which of their names people are found, and whether searches by the username show their email. */
export const discoverability: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('users')
      .addColumn('found_by', 'text', (column) =>
        column.notNull().defaultTo('both').check(sql`found_by in ('name', 'email', 'both', 'none')`),
      )
      .execute();
    // 0 or 1.
    await db.schema
      .alterTable('users')
      .addColumn('shows_email', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
