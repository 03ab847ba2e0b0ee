import { type Kysely, type Migration, sql } from 'kysely';

/** A session keeps the code that its token is answered with, so that a new password is told of as a revoked device is. */
export const endCodes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('sessions').addColumn('end_code', 'text').execute();
    await sql`update sessions set end_code = 'device-revoked' where revoked_at is not null`.execute(db);
    await db.schema.alterTable('sessions').dropColumn('revoked_at').execute();
  },
};
