import { type Kysely, type Migration, sql } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/** The suite of those that clients published before they said it. */
const former = 0x004d;

/** KeyPackages by the MLS suite that they are of, of which a device has several. */
export const keyPackageSuites = (types: ColumnTypes): Migration => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('key_packages')
      .addColumn('suite', 'integer', (column) => column.notNull().defaultTo(former))
      .execute();
    // SQLite changes no primary key.
    await db.schema
      .createTable('last_resort_by_suite')
      .addColumn('device_id', 'text', (column) =>
        column.notNull().references('devices.id').onDelete('cascade'),
      )
      .addColumn('suite', 'integer', (column) => column.notNull())
      .addColumn('content', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('last_resort_key', ['device_id', 'suite'])
      .execute();
    await sql`insert into last_resort_by_suite (device_id, suite, content)
      select device_id, ${sql.lit(former)}, content from last_resort_key_packages`.execute(db);
    await db.schema.dropTable('last_resort_key_packages').execute();
    await db.schema.alterTable('last_resort_by_suite').renameTo('last_resort_key_packages').execute();
  },
});
