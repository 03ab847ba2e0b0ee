import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Kysely, type Migration, Migrator, PostgresDialect, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { Client, Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import { type ColumnTypes, migrations } from '../../migrations/index.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import type { Db, Tables } from '../../src/db/tables.ts';
import { threadEntry } from '../../src/messaging/append/threadEntry.ts';
import { conversationsOf } from '../../src/repositories/conversations.ts';
import { entriesOf } from '../../src/repositories/entries.ts';
import { countKeyPackages, findLastResort, takeKeyPackage } from '../../src/repositories/keyPackages.ts';
import { findLiveSession } from '../../src/repositories/sessions.ts';
import { findByName } from '../../src/repositories/users.ts';
import { findVault } from '../../src/repositories/vaults.ts';
import { withOwnDatabase } from './ownDatabase.ts';

// Data that the first version of the relay has stored must be there, and work, after every migration since.

/** Applies the first migration alone, as the first version did. */
async function migrateToFirst(db: Db, types: ColumnTypes): Promise<void> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => migrations(types) };
  const { error } = await new Migrator({ db, provider }).migrateTo('0001-initial');
  if (error !== undefined) throw error;
}

const [aino, eero, device, session] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
const sessionWithoutDevice = randomUUID();
const bytes = (text: string) => `'\\x${Buffer.from(text).toString('hex')}'`;

/** Inserts into the tables of the first migration, in the dialect of either database. */
const rows = (blob: (text: string) => string) => [
  ...[aino, eero].map(
    (
      id,
      index,
    ) => `insert into users values ('${id}', 'name${index}', 'name${index}', 'n${index}@example.org',
      'n${index}@example.org', 'Name', 'hash', ${blob('salt')}, 3, 134217728, 1, 1)`,
  ),
  `insert into vaults values ('${aino}', 1, ${blob('vault')}, ${blob('wrap')}, null)`,
  `insert into devices values ('${device}', '${aino}', 'A browser', ${blob('certificate')}, 1, 1)`,
  `insert into key_packages values ('${device}', ${blob('reference')}, ${blob('single-use')}, 1)`,
  `insert into last_resort_key_packages values ('${device}', ${blob('last resort')})`,
  `insert into sessions values ('${session}', '${aino}', '${device}', 1, 9000000000000, null)`,
  `insert into sessions values ('${sessionWithoutDevice}', '${aino}', null, 1, 9000000000000, null)`,
  `insert into contacts values ('${aino}', '${eero}', 1), ('${eero}', '${aino}', 1)`,
  `insert into conversations values ('direct:x', 3, 7, ${blob('info')}, 1)`,
  `insert into participants values ('direct:x', '${aino}', 5), ('direct:x', '${eero}', 7)`,
  `insert into entries values ('direct:x', 7, '${randomUUID()}', 'application', 3, '${aino}', '${device}', ${blob('content')}, 1)`,
];

const readEverything = async (db: Db) => ({
  account: await findByName(db, 'name0'),
  vault: await findVault(db, aino),
  session: await findLiveSession(db, { id: session, userId: aino, now: 2 }),
  sessionWithoutDevice: await findLiveSession(db, { id: sessionWithoutDevice, userId: aino, now: 2 }),
  conversations: await conversationsOf(db, aino),
  entries: await entriesOf(db, 'direct:x', { limit: 10, maxBytes: 1000 }),
  keyPackages: {
    counted: await countKeyPackages(db, device, 0),
    lastResort: await findLastResort(db, device, { suite: 0x004d, after: 0 }),
    present: await findLastResort(db, device, { suite: 0xf04d, after: 0 }),
    taken: await takeKeyPackage(db, device, { suite: 0x004d, after: 0 }),
  },
});
const everything = {
  account: { user: { id: aino, fullName: 'Name' } },
  vault: { version: 1, sealedVault: Buffer.from('vault') },
  session: { deviceId: device },
  sessionWithoutDevice: { deviceId: null, expiresAt: 15 * 60 * 1000 + 1 },
  conversations: [{ epoch: 3, lastSeq: 7, readSeq: 5 }],
  entries: [{ seq: 7, content: Buffer.from('content') }],
  // None was of another suite.
  keyPackages: {
    counted: new Map([[0x004d, 1]]),
    lastResort: Buffer.from('last resort'),
    present: null,
    taken: Buffer.from('single-use'),
  },
};

describe('an upgrade from the first version', () => {
  const own = withOwnDatabase();
  const { url } = own;

  it('keeps everything on PostgreSQL', async () => {
    const first = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }),
    });
    await migrateToFirst(first, { bytes: 'bytea' });
    await first.destroy();
    const client = new Client(url);
    await client.connect();
    for (const row of rows(bytes)) await client.query(row);
    await client.end();
    const log = { warn: () => {}, error: () => {} };
    const upgraded = await openPostgres({ url, poolSize: 2, isShared: false, log });
    expect(await readEverything(upgraded.db)).toMatchObject(everything);
    await upgraded.close();
  });

  it('keeps everything on SQLite', async () => {
    const file = path.join(own.dataDir, 'relay.db');
    const first = new Kysely<Tables>({
      dialect: new SqliteDialect({ database: new Database(file) }),
    });
    await migrateToFirst(first, { bytes: 'blob' });
    await first.destroy();
    const database = new Database(file);
    for (const row of rows((text) => `x'${Buffer.from(text).toString('hex')}'`)) database.exec(row);
    database.close();
    const upgraded = await openSqlite(own.dataDir, threadEntry);
    expect(await readEverything(upgraded.db)).toMatchObject(everything);
    await upgraded.close();
  });
});
