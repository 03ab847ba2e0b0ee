import type { Kysely, Migration } from 'kysely';

/** Reports about people, for the operator. */
export const reports: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('reports')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('reporter_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('reported_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('words', 'text', (column) => column.notNull())
      // JSON: what the reporter has chosen to show.
      .addColumn('messages', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('closed_at', 'bigint')
      .execute();
    await db.schema.createIndex('reports_by_reporter').on('reports').column('reporter_id').execute();
    await db.schema.createIndex('reports_by_reported').on('reports').column('reported_id').execute();
  },
};
