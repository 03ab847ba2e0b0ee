import type { Kysely, Migration } from 'kysely';

/**
 * A leave statement outlives the removal of the leaves: the person's own devices ask for it, to know why a
 * group is gone.
 */
export const endedDepartures: Migration = {
  async up(db: Kysely<unknown>) {
    // When a commit removed them; null as long as they are in the tree.
    await db.schema.alterTable('departures').addColumn('removed_at', 'bigint').execute();
  },
};
