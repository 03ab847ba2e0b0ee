import { type Kysely, type Migration, sql } from 'kysely';

/** By which no two usernames look alike: see relay/src/accounts/names.ts. Those of before are filled in beside traffic. */
export const usernameSkeletons: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('users').addColumn('username_skeleton', 'text').execute();
    // Both are small while they are made: nobody has a skeleton, and whoever has none is read off.
    await sql`create unique index users_by_skeleton on users (username_skeleton)
      where username_skeleton is not null`.execute(db);
    await sql`create index users_without_skeleton on users (id) where username_skeleton is null`.execute(db);
  },
};
