import { type Kysely, type Migration, sql } from 'kysely';

/**
 * When last-resort KeyPackages were published, as they are given for a while only. Those of before were published with the
 * single-use ones of their device and suite, or when the device came.
 */
export const keyPackageAges: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('last_resort_key_packages')
      .addColumn('created_at', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`update last_resort_key_packages set created_at = coalesce(
      (select min(single.created_at) from key_packages as single
        where single.device_id = last_resort_key_packages.device_id and single.suite = last_resort_key_packages.suite),
      (select devices.created_at from devices where devices.id = last_resort_key_packages.device_id),
      0)`.execute(db);
    for (const table of ['key_packages', 'last_resort_key_packages']) {
      await db.schema.createIndex(`${table}_by_age`).on(table).column('created_at').execute();
    }
  },
};
