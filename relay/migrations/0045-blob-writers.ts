import { randomUUID } from 'node:crypto';
import { type Kysely, type Migration, sql } from 'kysely';

/**
 * The relay that writes an upload, the device that began it, and a name for the folder of this database's files, by which one of another database is
 * known. Rows of an account's files stay when the account goes, for a job that deletes them a
 * few at a time: in one transaction with the account, a hundred thousand of them would keep everybody else from writing.
 */
export const blobWriters: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.dropIndex('blobs_by_person').execute();
    await db.schema.dropIndex('blobs_by_age').execute();
    // SQLite lets go of no reference of a table that is there.
    await db.schema
      .createTable('blobs_apart')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      // Null once it is whole, and for sessions without one.
      .addColumn('device_id', 'text')
      // Bytes of the whole, and as many of them as are known to be on disk.
      .addColumn('length', 'bigint', (column) => column.notNull())
      .addColumn('received', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      // Null until it is whole.
      .addColumn('finished_at', 'bigint')
      // The relay that writes it, and until when no other one may. Null while none does.
      .addColumn('writer', 'text')
      .addColumn('writer_until', 'bigint')
      .addPrimaryKeyConstraint('blobs_key', ['id'])
      .execute();
    await sql`insert into blobs_apart (id, user_id, length, received, created_at, finished_at)
      select id, user_id, length, received, created_at, finished_at from blobs`.execute(db);
    await db.schema.dropTable('blobs').execute();
    await db.schema.alterTable('blobs_apart').renameTo('blobs').execute();
    await db.schema
      .createIndex('blobs_by_person')
      .on('blobs')
      .columns(['user_id', 'finished_at', 'created_at'])
      .execute();
    await db.schema.createIndex('blobs_by_age').on('blobs').columns(['finished_at', 'created_at']).execute();
    await sql`insert into operator_settings (name, value) values ('blob-folder', ${randomUUID()})`.execute(
      db,
    );
  },
};
