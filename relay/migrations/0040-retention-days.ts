import { type Kysely, type Migration, sql } from 'kysely';

/** After how many days content has been deleted, so that clients know what may be gone although these are more now. */
export const retentionDays: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('retention_days')
      .addColumn('days', 'integer', (column) => column.primaryKey())
      // When the job last deleted by them, in milliseconds since the epoch.
      .addColumn('used_at', 'bigint', (column) => column.notNull())
      .execute();
    // Nobody has noted by how many days it was deleted until now.
    await sql`insert into retention_days (days, used_at)
      select 1, ${Date.now()} where exists (select 1 from emptied_logs)`.execute(db);
  },
};
