import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GroupCommit } from '../src/db/groupCommit.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import type { OpenDatabase } from '../src/db/tables.ts';
import { SqliteFile } from '../src/db/sqliteFile.ts';
import { temporaryFolder } from './helpers.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(() => rm(dataDir, { recursive: true }));

const names = (file: SqliteFile) =>
  file.run<{ name: string }>('select name from names order by name', []).rows.map((row) => row.name);

describe('a group', () => {
  let file: SqliteFile;
  let other: SqliteFile;
  let commands: string[];
  /** Runs before a command; what it throws, the command throws. */
  let beforeCommand: (sql: string) => void;
  let group: GroupCommit;

  beforeEach(() => {
    const name = path.join(dataDir, 'group.db');
    file = new SqliteFile(name);
    file.pragma('journal_mode = WAL');
    file.exec('create table names (name text primary key)');
    other = new SqliteFile(name);
    commands = [];
    beforeCommand = () => undefined;
    group = new GroupCommit({
      exec(command) {
        commands.push(command);
        beforeCommand(command);
        file.exec(command);
      },
      get inTransaction() {
        return file.inTransaction;
      },
    });
  });
  afterEach(() => {
    file.close();
    other.close();
  });

  const insert = (name: string) => {
    group.requireOpen();
    try {
      file.run('insert into names values (?)', [name]);
    } catch (error) {
      group.checkLost(error);
      throw error;
    }
  };

  /** One transaction that writes `name`, and goes on with `then` before it ends. */
  async function add(name: string, then: () => void | Promise<void> = () => undefined): Promise<string> {
    await group.begin();
    try {
      insert(name);
      await then();
    } catch (error) {
      await group.rollback();
      throw error;
    }
    await group.commit();
    return name;
  }

  const outcomes = async (transactions: readonly Promise<string>[]) =>
    (await Promise.allSettled(transactions)).map((result) =>
      result.status === 'fulfilled' ? result.value : String(result.reason),
    );

  it('is committed once for all that arrive together, in their order', async () => {
    const all = Array.from({ length: 50 }, (_, index) => `name ${index}`);
    await Promise.all(all.map((name) => add(name)));
    expect(commands.filter((command) => !command.includes('member'))).toEqual(['begin immediate', 'commit']);
    const stored = file.run<{ name: string }>('select name from names order by rowid', []).rows;
    expect(stored.map((row) => row.name)).toEqual(all);
    await add('later');
    expect(commands.filter((command) => command === 'commit')).toHaveLength(2);
  });

  it('tells nobody of success before it is committed, and shows no other connection its rows', async () => {
    const told: string[] = [];
    const seenAtCommit: unknown[] = [];
    beforeCommand = (command) => {
      if (command === 'commit') seenAtCommit.push([...told], names(other));
    };
    await Promise.all(['a', 'b'].map(async (name) => told.push(await add(name))));
    expect(seenAtCommit).toEqual([[], []]);
    expect([told, names(other)]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('loses nothing by a member that fails', async () => {
    await add('taken');
    const change = () => {
      insert('half of it');
      throw new Error('changed my mind');
    };
    expect(await outcomes([add('a'), add('taken'), add('b', change), add('c')])).toEqual([
      'a',
      expect.stringContaining('UNIQUE'),
      'Error: changed my mind',
      'c',
    ]);
    expect(names(other)).toEqual(['a', 'c', 'taken']);
  });

  it('waits for the member whose turn it is, however long that takes', async () => {
    let end!: () => void;
    const slow = add('slow', () => new Promise((resolve) => (end = resolve)));
    const behind = add('behind');
    await nextTurn();
    await nextTurn();
    expect(commands).toEqual(['begin immediate', 'savepoint member']);
    end();
    expect(await outcomes([slow, behind])).toEqual(['slow', 'behind']);
  });

  it('that can not be committed fails all of its members, and none of the next group', async () => {
    beforeCommand = (command) => {
      if (command === 'commit') throw new Error('no disk');
    };
    expect(await outcomes([add('a'), add('b')])).toEqual(['Error: no disk', 'Error: no disk']);
    beforeCommand = () => undefined;
    expect(await outcomes([add('c')])).toEqual(['c']);
    expect(names(other)).toEqual(['c']);
  });

  it('that can not begin fails one by one, and holds nobody up', async () => {
    beforeCommand = (command) => {
      if (command === 'begin immediate') throw new Error('read-only');
    };
    expect(await outcomes([add('a'), add('b')])).toEqual(['Error: read-only', 'Error: read-only']);
    beforeCommand = () => undefined;
    expect(await outcomes([add('c')])).toEqual(['c']);
  });

  it('that SQLite itself has rolled back fails its members, and lets nothing be written after that', async () => {
    const fillTheDisk = () => {
      file.pragma('max_page_count = 10');
      try {
        insert('x'.repeat(100_000));
      } finally {
        file.pragma('max_page_count = 100000');
      }
    };
    const swallow = () => {
      expect(fillTheDisk).toThrow(/full/);
      insert('on its own');
    };
    expect(await outcomes([add('a'), add('b', swallow), add('c')])).toEqual([
      expect.stringContaining('full'),
      'Error: The transaction has been rolled back.',
      'c',
    ]);
    expect(names(other)).toEqual(['c']);
  });
});

describe('the database', () => {
  let database: OpenDatabase;
  beforeEach(async () => {
    database = await openSqlite(dataDir);
  });
  afterEach(() => database.close());

  const start = (id: string) => ({ id, epoch: 1, last_seq: 1, group_info: new Uint8Array(1), created_at: 0 });
  const ids = async () => {
    const rows = await database.db.selectFrom('conversations').select('id').orderBy('id').execute();
    return rows.map((row) => row.id);
  };

  it('answers other questions from what is committed while a transaction is open', async () => {
    await database.db.transaction().execute(async (tx) => {
      await tx.insertInto('conversations').values(start('a')).execute();
      expect(await ids()).toEqual([]);
      const inside = await tx.selectFrom('conversations').select('id').execute();
      expect(inside).toEqual([{ id: 'a' }]);
    });
    expect(await ids()).toEqual(['a']);
  });

  it('takes single statements and transactions together', async () => {
    const [, , failed] = await Promise.allSettled([
      database.db.insertInto('conversations').values(start('a')).execute(),
      database.db.transaction().execute((tx) => tx.insertInto('conversations').values(start('b')).execute()),
      database.db.insertInto('conversations').values(start('a')).execute(),
      database.db.deleteFrom('conversations').where('id', '=', 'b').execute(),
    ]);
    expect(failed?.status).toBe('rejected');
    expect(await ids()).toEqual(['a']);
  });

  it('that may not be written goes on answering', async () => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from conversations`.execute(database.db);
    expect(rows).toEqual([{ n: 0 }]);
    await sql`pragma query_only = on`.execute(database.db);
    await expect(database.db.insertInto('conversations').values(start('a')).execute()).rejects.toMatchObject({
      code: 'SQLITE_READONLY',
    });
    expect(await ids()).toEqual([]);
  });
});
