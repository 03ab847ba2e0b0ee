import type { Kysely, Migration } from 'kysely';

/** Registered starts tell apart two places that hold the data of one device. */
export const starts: Migration = {
  async up(db: Kysely<unknown>) {
    // The start that the device has registered last; null for a device that has registered none.
    await db.schema.alterTable('devices').addColumn('start_number', 'bigint').execute();
    await db.schema.alterTable('devices').addColumn('start_tag', 'text').execute();
    // The time at which its data was found in two places.
    await db.schema.alterTable('devices').addColumn('copied_at', 'bigint').execute();
    await db.schema.alterTable('revoked_devices').addColumn('copied_at', 'bigint').execute();
  },
};
