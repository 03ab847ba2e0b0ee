import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Client, type QueryResultRow } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrations } from '../../migrations/index.ts';
import type { OpenDatabase } from '../../src/db/openDatabase.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { StartupError, toApiError } from '../../src/errors.ts';
import { eventually } from '../eventually.ts';
import { createDatabase, dropDatabase } from '../servers/postgres.ts';

const serverUrl = inject('postgresUrl');
const warnings: unknown[] = [];
const log = {
  warn: (...line: unknown[]) => void warnings.push(line),
  error: (...line: unknown[]) => void warnings.push(line),
};

let name: string;
const opened: OpenDatabase[] = [];
const urlOf = (database: string) => serverUrl.replace(/\/postgres$/, `/${database}`);

/** Long enough for a relay that leaves. */
const patienceMs = 400;

async function open(isShared = false, url = urlOf(name)): Promise<OpenDatabase> {
  const database = await openPostgres({ url, poolSize: 5, isShared, log, patienceMs });
  opened.push(database);
  return database;
}

async function query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
  const client = new Client(urlOf(name));
  await client.connect();
  try {
    return (await client.query<T & QueryResultRow>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

beforeEach(async () => {
  name = `test_${randomUUID()}`;
  await createDatabase(serverUrl, name);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
  await dropDatabase(serverUrl, name);
});

const conversation = (id: string, groupInfo: Uint8Array = new Uint8Array(1)) => ({
  id,
  epoch: 1,
  last_seq: 1,
  group_info: groupInfo,
  created_at: 0,
});

describe('a PostgreSQL database', () => {
  it('returns bytes and 64-bit integers as SQLite does, and refuses those that a number cannot hold', async () => {
    const { db } = await open();
    const bytes = Buffer.from([0, 1, 2, 254, 255]).subarray(1);
    const stored = { ...conversation('a', bytes), created_at: Number.MAX_SAFE_INTEGER };
    await db.insertInto('conversations').values(stored).execute();
    const row = await db.selectFrom('conversations').selectAll().executeTakeFirstOrThrow();
    expect(row).toEqual({ ...stored, group_info: Buffer.from(bytes) });
    const sums = await db
      .selectFrom('conversations')
      .select((select) => [
        select.fn.countAll<number>().as('count'),
        select.fn.sum<number>('created_at').as('sum'),
      ])
      .executeTakeFirstOrThrow();
    expect(sums).toEqual({ count: 1, sum: Number.MAX_SAFE_INTEGER });
    await expect(sql`select 9007199254740992::bigint`.execute(db)).rejects.toThrow(RangeError);
  });

  it('waits for the disk, whatever the default of the database', async () => {
    await query(`alter database "${name}" set synchronous_commit = off`);
    expect(await query('show synchronous_commit')).toEqual([{ synchronous_commit: 'off' }]);
    const { rows } = await sql`show synchronous_commit`.execute((await open()).db);
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  });

  it('undoes a transaction that throws, and goes on', async () => {
    const { db } = await open();
    const failure = new Error('changed my mind');
    const insert = db.transaction().execute(async (tx) => {
      await tx.insertInto('conversations').values(conversation('a')).execute();
      throw failure;
    });
    await expect(insert).rejects.toBe(failure);
    await db.insertInto('conversations').values(conversation('b')).execute();
    expect(await query('select id from conversations')).toEqual([{ id: 'b' }]);
  });

  it('begins a transaction again that has met another one, and sees what the other did', async () => {
    const { db } = await open();
    const seen: boolean[] = [];
    const insertOnce = (): Promise<void> =>
      db.transaction().execute(async (tx) => {
        const found = await tx.selectFrom('conversations').select('id').executeTakeFirst();
        seen.push(found !== undefined);
        if (found === undefined) await tx.insertInto('conversations').values(conversation('a')).execute();
      });
    await Promise.all([insertOnce(), insertOnce(), insertOnce(), insertOnce()]);
    expect(seen.filter((found) => found)).toHaveLength(3);
    expect(await query('select id from conversations')).toEqual([{ id: 'a' }]);
  });

  it('gives up on a transaction that meets the same each time', async () => {
    const { db } = await open();
    const insertTwice = db.transaction().execute(async (tx) => {
      await tx.insertInto('conversations').values(conversation('a')).execute();
      await tx.insertInto('conversations').values(conversation('a')).execute();
    });
    await expect(insertTwice).rejects.toMatchObject({ code: '23505' });
  });

  it('is unavailable while its connections break, and serves the next one', async () => {
    const { db } = await open();
    const slow = sql`select pg_sleep(20)`.execute(db).catch(toApiError);
    const running = `select pid from pg_stat_activity where datname = $1 and query like '%pg_sleep%' and pid <> pg_backend_pid()`;
    await eventually(async () => expect(await query(running, [name])).toHaveLength(1));
    await query(`select pg_terminate_backend(pid) from (${running}) slow`, [name]);
    expect(await slow).toMatchObject({ code: 'unavailable', status: 503 });
    await eventually(async () => {
      expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    });
  });

  it('says that it is read-only', async () => {
    const { db } = await open();
    await query(`alter database "${name}" set default_transaction_read_only = on`);
    const [{ pid } = { pid: 0 }] = (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db))
      .rows;
    await query('select pg_terminate_backend($1)', [pid]);
    await eventually(async () => {
      const refused = await db
        .insertInto('conversations')
        .values(conversation('a'))
        .execute()
        .catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: '25006' });
      expect(toApiError(refused)).toMatchObject({ code: 'unavailable' });
    });
    expect(await db.selectFrom('conversations').selectAll().execute()).toEqual([]);
  });
});

describe('opening a PostgreSQL database', () => {
  it('brings it up to date once, however many relays start together', async () => {
    const databases = await Promise.all([open(true), open(true), open(true), open(true)]);
    expect(databases).toHaveLength(4);
    const applied = await query<{ name: string }>('select name from kysely_migration order by name');
    expect(applied.map((row) => row.name)).toEqual(Object.keys(migrations({ bytes: 'bytea' })));
  });

  it('is refused with a sentence to a relay older than the database', async () => {
    const newer = await open();
    await query(`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '')`);
    await newer.close();
    opened.splice(0);
    await expect(open()).rejects.toThrow(
      /^The database was changed by a newer relay \(9999-from-the-future\)/,
    );
    expect(
      await query('select count(*)::int as count from pg_stat_activity where datname = $1', [name]),
    ).toEqual([{ count: 1 }]);
  });

  it.each([
    ['alone', false, false],
    ['beside one that shares', true, false],
    ['sharing beside one that is alone', false, true],
  ])('is refused with a sentence to a second relay that is %s', async (_what, first, second) => {
    await open(first);
    await expect(open(second)).rejects.toThrow(
      'The database at DATABASE_URL is in use by another relay. Stop that one, or set REDIS_URL for all of them.',
    );
  });

  it('waits for a relay that is just leaving', async () => {
    const first = await open();
    const second = open();
    opened.splice(0, 1);
    await first.close();
    await expect(second).resolves.toBeDefined();
  });

  it('keeps others out again after the connection that did so has broken', async () => {
    await open();
    const holders = `select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = $1)`;
    const [before] = await query<{ pid: number }>(holders, [name]);
    await query('select pg_terminate_backend($1)', [before?.pid]);
    await eventually(async () => {
      const [after] = await query<{ pid: number }>(holders, [name]);
      expect(after?.pid).toBeTypeOf('number');
      expect(after?.pid).not.toBe(before?.pid);
    });
    await expect(open()).rejects.toThrow(StartupError);
  }, 20_000);

  it.each([
    ['nobody listens', () => 'postgresql://sinetti@127.0.0.1:9/x', /can't be used: connect ECONNREFUSED/],
    ['there is no such database', () => urlOf('nowhere'), /can't be used: database "nowhere" does not exist/],
  ])('where %s stops the start with a sentence', async (_what, url, sentence) => {
    const failure = await open(false, url()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartupError);
    expect(String(failure)).toMatch(sentence);
  });

  it('is refused in an encoding that cannot hold every name', async () => {
    await query(
      `create database "${name}_latin1" encoding latin1 lc_collate 'C' lc_ctype 'C' template template0`,
    );
    await expect(open(false, urlOf(`${name}_latin1`))).rejects.toThrow(
      'The database at DATABASE_URL has the encoding LATIN1. Create it with UTF8.',
    );
    await dropDatabase(serverUrl, `${name}_latin1`);
  });
});
