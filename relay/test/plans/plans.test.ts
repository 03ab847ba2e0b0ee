import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { CompiledQuery } from 'kysely';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../../src/db/openDatabase.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import type { Db } from '../../src/db/tables.ts';
import { threadEntry } from '../../src/messaging/append/threadEntry.ts';
import { conversationsOf, seqsTaking } from '../../src/repositories/conversations.ts';
import { entriesOf, findEntry, type PageRequest } from '../../src/repositories/entries.ts';
import { temporaryFolder } from '../helpers.ts';
import { createDatabase, type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { type Dialect, queriesOf } from './capture.ts';
import { conversationName, fillPostgres, fillSqlite, largest, populationOf, userName } from './fill.ts';

/** `npm run bench:plans` sets ten million. */
const messages = Number(process.env.PLAN_MESSAGES ?? 100_000);
const population = populationOf(messages);
const isReport = process.env.PLAN_MESSAGES !== undefined;
const say = (line: string) => isReport && process.stdout.write(`${line}\n`);

const limit = 200;
const page = (request: Partial<PageRequest>) => (db: Db) =>
  entriesOf(db, largest, { limit, maxBytes: Number.MAX_SAFE_INTEGER, ...request });
const middle = Math.round(population.inLargest / 2);

/** The queries that read messages, by what a client wants. */
const lists: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  'the newest page': page({}),
  'a page upwards from the middle': page({ after: middle }),
  'a page downwards from the middle': page({ before: middle }),
  'a page upwards, from a position on': page({ after: middle, from: middle - 1000 }),
  'a page of a small conversation': (db) =>
    entriesOf(db, conversationName(7), { limit, maxBytes: Number.MAX_SAFE_INTEGER }),
};
const lookups: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  'a message by its id': (db) => findEntry(db, randomUUID()),
  'the next position of a conversation': (db) => seqsTaking(db, { id: largest, epoch: 1, count: 1 }),
  'the conversations of a person': (db) => conversationsOf(db, `${userName(3)}1`),
};

/** The answer to the first query of `entriesOf`, for sizes, so that it goes on to the rows themselves. */
const sizes = Array.from({ length: limit }, (_none, index) => ({ seq: middle - limit + index, size: 200 }));
const asked = (dialect: Dialect, ask: (db: Db) => Promise<unknown>) => queriesOf(dialect, sizes, ask);

async function timed(what: string, task: () => Promise<void> | void): Promise<void> {
  const start = Date.now();
  await task();
  say(`${what}: ${messages.toLocaleString('en')} messages in ${Math.round((Date.now() - start) / 1000)} s`);
}

/** Reports the bytes on disk of one message, with its content and its index entries. */
const sayBytes = (what: string, rows: number, indexes: number) =>
  say(
    `${what}: ${Math.round((rows + indexes) / messages)} bytes a message, ${Math.round(indexes / messages)} of them indexes`,
  );

describe('PostgreSQL', () => {
  let server: PostgresServer;
  let database: OpenDatabase;
  beforeAll(async () => {
    server = await startPostgres({ settings: { max_wal_size: '4GB', shared_buffers: '512MB' } });
    await createDatabase(server.url('postgres'), 'plans');
    const log = { warn: () => {}, error: () => {} };
    database = await openPostgres({ url: server.url('plans'), poolSize: 2, isShared: false, log });
    await timed('PostgreSQL', () => fillPostgres(server.url('plans'), population));
    const size = CompiledQuery.raw(
      "select pg_table_size('entries') as rows, pg_indexes_size('entries') as indexes",
    );
    const [bytes] = (await database.db.executeQuery<{ rows: number; indexes: number }>(size)).rows;
    if (bytes !== undefined) sayBytes('PostgreSQL', bytes.rows, bytes.indexes);
  }, 1_800_000);
  afterAll(async () => {
    await database.close();
    await server.remove();
  }, 60_000);

  interface Plan {
    readonly 'Node Type': string;
    readonly 'Index Name'?: string;
    readonly 'Actual Rows': number;
    readonly 'Actual Loops': number;
    readonly 'Rows Removed by Filter'?: number;
    readonly 'Shared Hit Blocks': number;
    readonly 'Shared Read Blocks': number;
    readonly Plans?: readonly Plan[];
  }
  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

  async function explain(query: CompiledQuery): Promise<Plan> {
    const explained = CompiledQuery.raw(`explain (analyze, buffers, format json) ${query.sql}`, [
      ...query.parameters,
    ]);
    type Row = { 'QUERY PLAN': readonly [{ Plan: Plan; 'Execution Time': number }] };
    const [row] = (await database.db.executeQuery<Row>(explained)).rows;
    const [answer] = row?.['QUERY PLAN'] ?? [];
    if (answer === undefined) throw new Error('no plan');
    const { Plan: plan, 'Execution Time': time } = answer;
    const steps = nodes(plan).map((node) =>
      [node['Node Type'], node['Index Name']].filter(Boolean).join(' '),
    );
    const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    say(`    ${steps.join(' < ')}; ${plan['Actual Rows']} rows, ${pages} pages of 8 KiB, ${time} ms`);
    return plan;
  }

  it.each(Object.entries(lists))('reads %s as one range of the index', async (what, ask) => {
    const queries = await asked('postgres', ask);
    expect(queries).toHaveLength(2);
    say(`PostgreSQL, ${what}:`);
    for (const query of queries) {
      const plan = await explain(query);
      const scans = nodes(plan).filter((node) => node['Node Type'] !== 'Limit');
      expect(scans).toHaveLength(1);
      for (const scan of scans) {
        expect(scan['Node Type']).toMatch(/^Index (Only )?Scan$/);
        expect(scan['Index Name']).toBe('entries_key');
        expect(scan['Actual Rows']).toBeLessThanOrEqual(limit);
        expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
      }
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(2 * limit);
    }
  });

  it.each(Object.entries(lookups))('finds %s by indexes alone', async (what, ask) => {
    say(`PostgreSQL, ${what}:`);
    for (const query of await asked('postgres', ask)) {
      const types = nodes(await explain(query)).map((node) => node['Node Type']);
      expect(types.filter((type) => type === 'Seq Scan')).toEqual([]);
      expect(types.some((type) => /^(Index|Bitmap)/.test(type))).toBe(true);
    }
  });
});

describe('SQLite', () => {
  let dataDir: string;
  let database: Database.Database;
  beforeAll(async () => {
    dataDir = await temporaryFolder();
    await (await openSqlite(dataDir, threadEntry)).close();
    const file = path.join(dataDir, 'relay.db');
    await timed('SQLite', () => fillSqlite(file, population));
    sayBytes('SQLite', (await stat(file)).size, 0);
    database = new Database(file);
  }, 1_800_000);
  afterAll(async () => {
    database.close();
    await rm(dataDir, { recursive: true });
  }, 60_000);

  function explain(query: CompiledQuery): string[] {
    const parameters = [...query.parameters];
    const rows = database.prepare(`explain query plan ${query.sql}`).all(parameters);
    const start = performance.now();
    database.prepare(query.sql).all(parameters);
    say(`    took ${(performance.now() - start).toFixed(2)} ms:`);
    return rows.map((row) => {
      const { detail } = row as { detail: string };
      say(`    ${detail}`);
      return detail;
    });
  }

  it.each(Object.entries(lists))('reads %s as one range of the index', async (what, ask) => {
    const queries = await asked('sqlite', ask);
    expect(queries).toHaveLength(2);
    say(`SQLite, ${what}:`);
    for (const query of queries) {
      // SQLite uses one of two lower bounds, and reads every row between them.
      expect(query.sql.match(/"seq" >/g)?.length ?? 0).toBeLessThan(2);
      const [step, ...more] = explain(query);
      expect(more).toEqual([]);
      expect(step).toMatch(
        /^SEARCH entries USING INDEX sqlite_autoindex_entries_2 \(conversation_id=\?( AND seq[<>]\?){0,2}\)$/,
      );
    }
  });

  it.each(Object.entries(lookups))('finds %s by indexes alone', async (what, ask) => {
    say(`SQLite, ${what}:`);
    for (const query of await asked('sqlite', ask)) {
      const steps = explain(query);
      expect(steps.length).toBeGreaterThan(0);
      expect(steps.filter((step) => step.startsWith('SCAN'))).toEqual([]);
    }
  });
});
