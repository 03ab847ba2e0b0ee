import { type Kysely, type Migration, sql } from 'kysely';
import type { ColumnTypes } from './0001-initial.ts';

/**
 * Indexes by which parts of usernames are found. A large database has its names taken in later, beside traffic: see
 * relay/src/db/nameIndex.ts.
 * @param atOnce the most accounts whose names are taken in here
 */
export const nameIndex = (types: ColumnTypes, atOnce: number): Migration => ({
  async up(db: Kysely<unknown>) {
    const { rows } = await sql<{ found: number }>`
      select count(*) as found from (select 1 from users limit ${atOnce + 1}) as first_users`.execute(db);
    const isSmall = Number(rows[0]?.found) <= atOnce;
    if (types.bytes === 'blob') await inSqlite(db, isSmall);
    else if (isSmall) await inPostgres(db);
  },
});

async function inSqlite(db: Kysely<unknown>, isSmall: boolean): Promise<void> {
  // The index refers to rows by number, and numbers of `users` may change when the file is compacted.
  await db.schema
    .createTable('usernames')
    .addColumn('number', 'integer', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) =>
      column.notNull().unique().references('users.id').onDelete('cascade'),
    )
    .addColumn('username_key', 'text', (column) => column.notNull())
    .execute();
  await sql`create virtual table username_trigrams using fts5(
    username_key, content = 'usernames', content_rowid = 'number', tokenize = 'trigram case_sensitive 1')`.execute(
    db,
  );
  // Deleted names leave the index at once, as they leave the rest of the file.
  await sql`insert into username_trigrams (username_trigrams, rank) values ('secure-delete', 1)`.execute(db);
  for (const trigger of [
    sql`create trigger usernames_inserted after insert on usernames begin
      insert into username_trigrams (rowid, username_key) values (new.number, new.username_key);
    end`,
    sql`create trigger usernames_deleted after delete on usernames begin
      insert into username_trigrams (username_trigrams, rowid, username_key)
        values ('delete', old.number, old.username_key);
    end`,
    sql`create trigger users_named after insert on users begin
      insert into usernames (user_id, username_key) values (new.id, new.username_key);
    end`,
    sql`create trigger users_renamed after update of username_key on users
      when new.username_key <> old.username_key begin
      delete from usernames where user_id = new.id;
      insert into usernames (user_id, username_key) values (new.id, new.username_key);
    end`,
  ]) {
    await trigger.execute(db);
  }
  if (isSmall)
    await sql`insert into usernames (user_id, username_key) select id, username_key from users`.execute(db);
  // The file itself says that there are names to take in yet.
  else await sql`pragma user_version = 1`.execute(db);
}

async function inPostgres(db: Kysely<unknown>): Promise<void> {
  await sql`create index users_by_beginning on users (username_key collate "C")`.execute(db);
  // A failure would take the other migrations with it, so it is known before.
  const { rows } = await sql`
    select 1 from pg_available_extensions where name = 'pg_trgm'
      and (installed_version is not null or has_database_privilege(current_database(), 'create'))`.execute(
    db,
  );
  if (rows.length === 0) return;
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create index users_by_trigram on users using gin (username_key gin_trgm_ops)`.execute(db);
}
