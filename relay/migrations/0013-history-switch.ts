import type { Kysely, Migration } from 'kysely';

/** While the message backup is off, the copies that a device leaves late are deleted without a proof. */
export const historySwitch: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('history_totals').addColumn('switched_off_at', 'bigint').execute();
  },
};
