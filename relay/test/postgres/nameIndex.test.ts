import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Kysely, type Migration, Migrator, PostgresDialect, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { Client, Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ColumnTypes, migrations } from '../../migrations/index.ts';
import type { OpenDatabase } from '../../src/db/openDatabase.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import { backUpDataFolder } from '../../src/db/sqlite/sqliteBackup.ts';
import type { Db, Tables } from '../../src/db/tables.ts';
import { threadEntry } from '../../src/messaging/append/threadEntry.ts';
import { searchUsers } from '../../src/repositories/search.ts';
import { deleteUser, insertUser } from '../../src/repositories/users.ts';
import { temporaryFolder } from '../helpers.ts';
import { withOwnDatabase } from './ownDatabase.ts';

const log = { warn: () => {}, error: () => {} };
const never = new AbortController().signal;

const add = async (db: Db, username: string): Promise<string> => {
  const id = randomUUID();
  const stored = await insertUser(db, {
    id,
    username,
    usernameKey: username,
    usernameSkeleton: username,
    email: `${id}@example.org`,
    emailKey: `${id}@example.org`,
    emailVerifiedAt: null,
    fullName: username,
    passwordHash: '',
    salt: Buffer.alloc(16),
    opsLimit: 1,
    memLimit: 1,
    proofKey: null,
    consentedAt: 0,
    createdAt: 0,
  });
  expect(stored).toBe(true);
  return id;
};

const found = async ({ names }: OpenDatabase, key: string) =>
  (await searchUsers(names, { key, exceptId: '', limit: 20, verifiesEmails: false })).map(
    ({ username }) => username,
  );

/** Applies all migrations as a relay would for whom these few accounts are many. */
async function migrateLarge(db: Db, types: ColumnTypes): Promise<void> {
  const known: Record<string, Migration> = migrations(types, 2);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  expect((await migrator.migrateTo('0020-receipts')).error).toBeUndefined();
  for (const name of ['early.one', 'early.two', 'early.six']) {
    await db.executeQuery(
      db
        .insertInto('users')
        .values({
          id: randomUUID(),
          username: name,
          username_key: name,
          email: name,
          email_key: name,
          full_name: name,
          password_hash: '',
          password_salt: new Uint8Array(1),
          password_ops_limit: 1,
          password_mem_limit: 1,
          consented_at: 0,
          created_at: 0,
        })
        .compile(),
    );
  }
  expect((await migrator.migrateToLatest()).error).toBeUndefined();
}

const early = ['early.one', 'early.six', 'early.two'];

/** The searches of a relay that is stopped, and started again, before the names are taken in: each with its result. */
async function searchesMeanwhile(open: () => Promise<OpenDatabase>) {
  const before = await open();
  await add(before.db, 'late.one');
  const beginning = await found(before, 'early');
  const stopped = new AbortController();
  stopped.abort();
  await before.names.build(stopped.signal);
  const middle = await found(before, 'arly');
  await before.close();
  const after = await open();
  await after.names.build(never);
  const taken = await found(after, 'arly');
  await after.names.build(never);
  const again = await found(after, '.one');
  await after.close();
  return { beginning, middle, taken, again };
}

const expected = { beginning: early, middle: [], taken: early, again: ['early.one', 'late.one'] };

describe('the index of parts of names, of a large database', () => {
  const own = withOwnDatabase();
  const { url } = own;
  const openOnPostgres = () => openPostgres({ url, poolSize: 2, isShared: true, log });

  async function largeOnPostgres(): Promise<void> {
    const pool = new Pool({ connectionString: url });
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    await migrateLarge(db, { bytes: 'bytea' });
    await db.destroy();
  }

  it('is made beside traffic on PostgreSQL, and goes on where it was stopped', async () => {
    await largeOnPostgres();
    expect(await searchesMeanwhile(openOnPostgres)).toEqual(expected);
  });

  it('is made once by relays that start together on PostgreSQL', async () => {
    await largeOnPostgres();
    const relays = await Promise.all([openOnPostgres(), openOnPostgres()]);
    await Promise.all(relays.map(({ names }) => names.build(never)));
    for (const relay of relays) {
      expect(await found(relay, 'arly.o')).toEqual(['early.one']);
      await relay.close();
    }
  });

  it('is made anew on PostgreSQL where it was left half made', async () => {
    await largeOnPostgres();
    const client = new Client(url);
    await client.connect();
    await client.query('create extension pg_trgm');
    await client.query('create index users_by_trigram on users using gin (username_key gin_trgm_ops)');
    await client.query(
      "update pg_index set indisvalid = false where indexrelid = 'users_by_trigram'::regclass",
    );
    await client.end();
    expect(await searchesMeanwhile(openOnPostgres)).toEqual(expected);
  });

  it('is not asked on PostgreSQL for a text without letters and digits, which it knows nothing of', async () => {
    const relay = await openOnPostgres();
    await add(relay.db, '._.one');
    expect([relay.names.containing('._.'), await found(relay, '._.')]).toEqual([null, ['._.one']]);
    expect(await found(relay, '_.on')).toEqual(['._.one']);
    await relay.close();
  });

  it('is left out on PostgreSQL where the relay may make no extension, and beginnings are found', async () => {
    const role = `role_${randomUUID()}`;
    const admin = new Client(url);
    await admin.connect();
    await admin.query(`create role "${role}" login`);
    await admin.query(`grant all on schema public to "${role}"`);
    const as = new URL(url);
    as.username = role;
    const open = () => openPostgres({ url: as.href, poolSize: 2, isShared: true, log });
    for (const relay of [await open(), await open()]) {
      if ((await found(relay, 'early')).length === 0) await add(relay.db, 'early.one');
      await expect(relay.names.build(never)).rejects.toThrow('permission denied');
      expect([await found(relay, 'early'), await found(relay, 'arly')]).toEqual([['early.one'], []]);
      await relay.close();
    }
    await admin.query(`drop owned by "${role}" cascade`);
    await admin.query(`drop role "${role}"`);
    await admin.end();
  });

  it('is made beside traffic on SQLite, and goes on where it was stopped', async () => {
    const file = path.join(own.dataDir, 'relay.db');
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(file) }) });
    await migrateLarge(db, { bytes: 'blob' });
    await db.destroy();
    expect(await searchesMeanwhile(() => openSqlite(own.dataDir, threadEntry))).toEqual(expected);
  });
});

describe('the index of parts of names, on SQLite', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is whole in a copy of the data folder', async () => {
    const database = await openSqlite(folder, threadEntry);
    for (const name of ['anna.one', 'anna.two', 'anna.six']) await add(database.db, name);
    await database.db.deleteFrom('users').where('username', '=', 'anna.one').execute();
    await database.close();
    const target = path.join(folder, 'copy');
    await writeFile(path.join(folder, 'secrets.json'), '{}');
    await backUpDataFolder(folder, target);
    const copy = await openSqlite(target, threadEntry);
    expect(await found(copy, 'nna')).toEqual(['anna.six', 'anna.two']);
    await deleteUser(
      copy.db,
      (await searchUsers(copy.names, { key: 'anna.six', exceptId: '', limit: 1, verifiesEmails: false }))[0]
        ?.id ?? '',
    );
    expect(await found(copy, 'nna')).toEqual(['anna.two']);
    await copy.close();
  });

  it('keeps nothing of a name that is gone', async () => {
    const database = await openSqlite(folder, threadEntry);
    for (let index = 0; index < 50; index += 1) await add(database.db, `person.${index}`);
    const id = await add(database.db, 'qjxkvbw');
    await deleteUser(database.db, id);
    await database.close();
    const content = await readFile(path.join(folder, 'relay.db'));
    expect(content.includes('person.49')).toBe(true);
    for (const part of ['qjx', 'jxk', 'kvbw']) expect(content.includes(part)).toBe(false);
  });
});
