import { type Kysely, type Migration, sql } from 'kysely';

export const recovery: Migration = {
  async up(db: Kysely<unknown>) {
    // Argon2id (PHC string) of the key that the recovery key signs in by.
    await db.schema.alterTable('vaults').addColumn('recovery_auth_hash', 'text').execute();
    // A recovery session may do nothing but open the vault and set a new password.
    await db.schema
      .alterTable('sessions')
      .addColumn('purpose', 'text', (column) =>
        column.notNull().defaultTo('full').check(sql`purpose in ('full', 'recovery')`),
      )
      .execute();
  },
};
