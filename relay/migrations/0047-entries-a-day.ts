import type { Kysely, Migration } from 'kysely';

/** How many entries a person has added to logs on the last day that they added any: their places stay. */
export const entriesADay: Migration = {
  async up(db: Kysely<unknown>) {
    // Days since the epoch, in UTC.
    await db.schema
      .alterTable('stored_bytes')
      .addColumn('day', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .alterTable('stored_bytes')
      .addColumn('entries', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
