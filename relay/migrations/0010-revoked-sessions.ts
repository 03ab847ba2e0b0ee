import type { Kysely, Migration } from 'kysely';

/** A session outlives the revoked device that it was bound to, so that a browser that was away is told why it ended. */
export const revokedSessions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('sessions').addColumn('revoked_at', 'bigint').execute();
  },
};
