import type { Kysely, Migration } from 'kysely';

/** Sealed files, which lie beside the database. */
export const blobs: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('blobs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      // Bytes of the whole, and as many of them as are known to be on disk.
      .addColumn('length', 'bigint', (column) => column.notNull())
      .addColumn('received', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      // Null until it is whole.
      .addColumn('finished_at', 'bigint')
      .execute();
    await db.schema
      .createIndex('blobs_by_person')
      .on('blobs')
      .columns(['user_id', 'finished_at', 'created_at'])
      .execute();
    await db.schema.createIndex('blobs_by_age').on('blobs').columns(['finished_at', 'created_at']).execute();
    await db.schema
      .createTable('blob_totals')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('blobs', 'bigint', (column) => column.notNull())
      // As the disk counts them: in whole blocks.
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .execute();
    // Files whose rows are gone and that are still to be deleted, so that no crash leaves one behind.
    await db.schema
      .createTable('deleted_blobs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .execute();
  },
};
