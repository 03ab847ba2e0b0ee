import { type Kysely, type Migration, sql } from 'kysely';

/** Sessions that never got a device end as those do that are opened from now on. Ended ones stay to say why. */
export const sessionsWithoutDevice: Migration = {
  async up(db: Kysely<unknown>) {
    const lifetime = 15 * 60 * 1000;
    await sql`update sessions set expires_at = created_at + ${lifetime}
      where device_id is null and ended_at is null and expires_at > created_at + ${lifetime}`.execute(db);
  },
};
