import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../src/db/openDatabase.ts';
import { openSqlite } from '../src/db/sqlite/sqlite.ts';
import { StartupError } from '../src/errors.ts';
import { threadEntry } from '../src/messaging/append/threadEntry.ts';
import { temporaryFolder } from './helpers.ts';

let dataDir: string;
let database: OpenDatabase;
beforeEach(async () => {
  dataDir = await temporaryFolder();
  database = await openSqlite(dataDir, threadEntry);
});
afterEach(async () => {
  await database.close();
  await rm(dataDir, { recursive: true });
});

const conversation = (id: string, groupInfo: Uint8Array = new Uint8Array(1)) => ({
  id,
  epoch: 1,
  last_seq: 1,
  group_info: groupInfo,
  created_at: 0,
});
const ids = async () => {
  const rows = await database.db.selectFrom('conversations').select('id').orderBy('id').execute();
  return rows.map((row) => row.id);
};

describe('the database', () => {
  it('appends commits to a log, and enforces its references', async () => {
    const pragma = async (name: string) => {
      const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(database.db);
      return Object.values(rows[0] ?? {})[0];
    };
    expect(await pragma('journal_mode')).toBe('wal');
    // NORMAL: the relay itself syncs every commit, which groupCommit.test.ts proves.
    expect(await pragma('synchronous')).toBe(1);
    expect(await pragma('wal_autocheckpoint')).toBe(0);
    expect(await pragma('secure_delete')).toBe(1);
    await expect(
      database.db
        .insertInto('participants')
        .values({ conversation_id: 'x', user_id: 'y', read_seq: 0 })
        .execute(),
    ).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' });
  });

  it('returns bytes as they were, in a Buffer', async () => {
    const bytes = Buffer.from([0, 1, 2, 254, 255]).subarray(1);
    await database.db.insertInto('conversations').values(conversation('a', bytes)).execute();
    const row = await database.db.selectFrom('conversations').select('group_info').executeTakeFirstOrThrow();
    expect(Buffer.isBuffer(row.group_info)).toBe(true);
    expect(row.group_info).toEqual(Buffer.from(bytes));
  });

  it.each([[true], [undefined], ['a\0b'], [new Date(0)], [{}]])(
    'refuses what it can not keep: %s',
    async (value) => {
      await expect(sql`select ${value}`.execute(database.db)).rejects.toThrow(TypeError);
      expect(await ids()).toEqual([]);
    },
  );

  it('undoes a transaction that throws, and goes on', async () => {
    const failure = new Error('changed my mind');
    await expect(
      database.db.transaction().execute(async (tx) => {
        await tx.insertInto('conversations').values(conversation('a')).execute();
        throw failure;
      }),
    ).rejects.toBe(failure);
    await database.db.insertInto('conversations').values(conversation('b')).execute();
    expect(await ids()).toEqual(['b']);
  });

  it('throws SQLITE_FULL on a full disk, undoes the transaction, and goes on when there is room', async () => {
    await sql`pragma max_page_count = 100`.execute(database.db);
    await expect(
      database.db.transaction().execute(async (tx) => {
        await tx.insertInto('conversations').values(conversation('small')).execute();
        await tx
          .insertInto('conversations')
          .values(conversation('large', new Uint8Array(1_000_000)))
          .execute();
      }),
    ).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    expect(await ids()).toEqual([]);
    await sql`pragma max_page_count = 100000`.execute(database.db);
    await database.db.insertInto('conversations').values(conversation('later')).execute();
    expect(await ids()).toEqual(['later']);
  });

  it('is one whole file when it is closed', async () => {
    const marker = Buffer.from('a marker that is easily found');
    await database.db.insertInto('conversations').values(conversation('a', marker)).execute();
    await database.close();
    expect((await readFile(path.join(dataDir, 'relay.db'))).includes(marker)).toBe(true);
    expect(await readdir(dataDir)).not.toContain('relay.db-wal');
    database = await openSqlite(dataDir, threadEntry);
    expect(await ids()).toEqual(['a']);
  });

  it('leaves nothing in the file of what was deleted', async () => {
    const marker = Buffer.from('a marker that is easily found');
    await database.db.insertInto('conversations').values(conversation('a', marker)).execute();
    await database.db.deleteFrom('conversations').execute();
    await database.close();
    for (const name of await readdir(dataDir)) {
      expect((await readFile(path.join(dataDir, name))).includes(marker)).toBe(false);
    }
    database = await openSqlite(dataDir, threadEntry);
  });
});

it.each([
  [
    'no database',
    'is damaged (',
    async () => writeFile(path.join(dataDir, 'relay.db'), 'something else. '.repeat(500)),
  ],
  ['another schema', "can't be used: ", async () => damageSchema()],
])('%s in the folder stops the start with a sentence, and lets go of it', async (_what, sentence, damage) => {
  await database.close();
  await damage();
  for (const _attempt of [1, 2]) {
    const failure = await openSqlite(dataDir, threadEntry).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(StartupError);
    expect(String(failure)).toContain(`${dataDir} ${sentence}`);
  }
  await rm(dataDir, { recursive: true });
  dataDir = await temporaryFolder();
  database = await openSqlite(dataDir, threadEntry);
});

it('a database that a newer relay has changed stops the start with a sentence', async () => {
  await sql`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '')`.execute(
    database.db,
  );
  await database.close();
  await expect(openSqlite(dataDir, threadEntry)).rejects.toThrow(
    'The database was changed by a newer relay (9999-from-the-future), and this one would damage it. ' +
      'Start the newer one, or restore the backup from before the update.',
  );
  await rm(dataDir, { recursive: true });
  dataDir = await temporaryFolder();
  database = await openSqlite(dataDir, threadEntry);
});

/** A database whose migrations have not run, and whose tables are there all the same. */
async function damageSchema(): Promise<void> {
  const open = await openSqlite(dataDir, threadEntry);
  await sql`delete from kysely_migration`.execute(open.db);
  await open.close();
}
