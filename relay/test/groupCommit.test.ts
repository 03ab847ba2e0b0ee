import { fstatSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../src/db/openDatabase.ts';
import { GroupCommit } from '../src/db/sqlite/groupCommit.ts';
import { openSqlite } from '../src/db/sqlite/sqlite.ts';
import { SqliteFile } from '../src/db/sqlite/sqliteFile.ts';
import { logLimit, WriteAheadLog } from '../src/db/sqlite/writeAheadLog.ts';
import { toApiError } from '../src/errors.ts';
import { threadEntry } from '../src/messaging/append/threadEntry.ts';
import { temporaryFolder } from './helpers.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(() => rm(dataDir, { recursive: true }));

/** A promise with what settles it outside. */
function deferred() {
  let resolve!: () => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

const names = (file: SqliteFile) =>
  file.run<{ name: string }>('select name from names order by name', []).rows.map((row) => row.name);

describe('a group of transactions', () => {
  let file: SqliteFile;
  let other: SqliteFile;
  let commands: string[];
  /** Runs before a command; what it throws, the command throws. */
  let beforeCommand: (sql: string) => void;
  /** The wait for the disk. */
  let sync: () => Promise<void>;
  let isLong: boolean;
  let group: GroupCommit;

  beforeEach(() => {
    const name = path.join(dataDir, 'group.db');
    file = new SqliteFile(name);
    file.pragma('journal_mode = WAL');
    file.exec('create table names (name text primary key)');
    other = new SqliteFile(name);
    commands = [];
    beforeCommand = () => undefined;
    sync = () => Promise.resolve();
    isLong = false;
    const log = new WriteAheadLog(name, other);
    group = new GroupCommit(
      {
        exec(command) {
          commands.push(command);
          beforeCommand(command);
          file.exec(command);
        },
        get inTransaction() {
          return file.inTransaction;
        },
      },
      {
        holdReaders: () => log.holdReaders(),
        releaseReaders: () => log.releaseReaders(),
        sync: () => sync(),
        get isLong() {
          return isLong;
        },
        foldIn() {
          commands.push(file.inTransaction ? 'fold in, in the way of a transaction' : 'fold in');
          log.foldIn();
        },
      },
    );
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

  it('resolves no transaction before it is on disk, and shows no other connection its rows', async () => {
    const committed: string[] = [];
    const { promise, resolve } = deferred();
    sync = () => promise;
    const all = Promise.all(['a', 'b'].map(async (name) => committed.push(await add(name))));
    while (commands.at(-1) !== 'commit') await nextTurn();
    await nextTurn();
    expect([committed, names(other), names(file)]).toEqual([[], [], ['a', 'b']]);
    resolve();
    await all;
    expect([committed, names(other)]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('fills while the one before it is on its way to the disk, and is committed after that', async () => {
    const { promise, resolve } = deferred();
    sync = () => promise;
    const first = add('first');
    while (commands.at(-1) !== 'commit') await nextTurn();
    sync = () => Promise.resolve();
    const second = [add('second'), add('third')];
    await nextTurn();
    await nextTurn();
    const count = () => commands.filter((command) => command === 'commit').length;
    expect([count(), names(file), names(other)]).toEqual([1, ['first', 'second', 'third'], []]);
    resolve();
    expect(await outcomes([first, ...second])).toEqual(['first', 'second', 'third']);
    expect([count(), names(other)]).toEqual([2, ['first', 'second', 'third']]);
    await group.settled();
  });

  it('that does not reach the disk fails, and nothing can be written after it', async () => {
    const { promise, reject } = deferred();
    sync = () => promise;
    const first = add('first');
    while (commands.at(-1) !== 'commit') await nextTurn();
    const second = add('second');
    reject(new Error('bad blocks'));
    expect(await outcomes([first, second, add('third')])).toEqual(Array(3).fill('Error: bad blocks'));
    expect(names(other)).toEqual([]);
    await group.settled();
  });

  it('is followed by tidying up when the log is long, before anybody writes again', async () => {
    const { promise, resolve } = deferred();
    sync = () => promise;
    isLong = true;
    const first = add('first');
    while (commands.at(-1) !== 'commit') await nextTurn();
    isLong = false;
    const second = add('second');
    await nextTurn();
    expect(names(file)).toEqual(['first']);
    resolve();
    expect(await outcomes([first, second])).toEqual(['first', 'second']);
    const relevant = commands.filter((command) => !command.includes('member'));
    expect(relevant).toEqual(['begin immediate', 'commit', 'fold in', 'begin immediate', 'commit']);
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
      expect.stringContaining('full'),
      'c',
    ]);
    expect(names(other)).toEqual(['c']);
  });
});

describe("SQLite's log", () => {
  it('is what is synced, and a disk that fails counts as one that is out', async () => {
    const name = path.join(dataDir, 'log.db');
    const [writer, reader] = [new SqliteFile(name), new SqliteFile(name)];
    writer.pragma('journal_mode = WAL');
    writer.exec('create table names (name text primary key)');
    const synced: number[] = [];
    let failure: Error | null = null;
    const log = new WriteAheadLog(name, reader, async (descriptor) => {
      if (failure !== null) throw failure;
      synced.push(fstatSync(descriptor).ino);
    });
    await log.sync();
    expect(synced).toEqual([(await stat(`${name}-wal`)).ino]);
    failure = new Error('EIO');
    const error: unknown = await log.sync().catch((reason: unknown) => reason);
    expect(toApiError(error)).toMatchObject({ code: 'unavailable' });
    log.close();
    reader.close();
    writer.close();
  });
});

describe("SQLite's database", () => {
  let database: OpenDatabase;
  beforeEach(async () => {
    database = await openSqlite(dataDir, threadEntry);
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

  it('keeps its log short under load that never pauses', async () => {
    const write = async (name: string, left: number): Promise<void> => {
      const groupInfo = new Uint8Array(200_000);
      await database.db
        .insertInto('conversations')
        .values({ ...start(`${name} ${left}`), group_info: groupInfo })
        .execute();
      if (left > 0) return write(name, left - 1);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => write(name, 60)));
    const { size } = await stat(path.join(dataDir, 'relay.db-wal'));
    expect(4 * 61 * 200_000).toBeGreaterThan(2 * logLimit);
    // One group more than the limit: the one that was under way when it was reached.
    expect(size).toBeLessThan(logLimit + 2_000_000);
    expect(await ids()).toHaveLength(4 * 61);
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
