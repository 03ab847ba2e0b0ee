import { errorCode } from '../../../errorCode.ts';
import type { Statement } from '../../prepared.ts';
import { GroupCommit } from '../groupCommit.ts';
import { SqliteFile } from '../sqliteFile.ts';
import { logLimit, WriteAheadLog } from '../writeAheadLog.ts';
import type { Query, ReadingCalls, ThreadCalls, ThreadProgram, ThreadResult } from './protocol.ts';

/**
 * The size of a file of before, in bytes, up to which it is brought into the form that gives space back while the relay
 * starts: a second or two.
 */
const rewrittenAtStart = 256 * 1024 * 1024;

const readerSettings = ['query_only = ON', 'busy_timeout = 5000'] as const;

/** The rows of each statement, given its parameters by name. */
type Queries = Readonly<
  Record<string, (given: Readonly<Record<string, unknown>>) => Promise<readonly unknown[]>>
>;

/**
 * Two connections to one database file: the writer holds every transaction and every statement that may write, the
 * reader sees what is on disk and nothing else.
 * @param program answers `run`
 * @throws SqliteError if the file can't be used
 */
export function serveSqlite(file: string, program: ThreadProgram): ThreadCalls {
  const writer = openFile(file, [
    // A file that isn't empty stays as it is until it is written anew.
    'auto_vacuum = INCREMENTAL',
    'journal_mode = WAL',
    // Each commit is synced all the same, and the log kept short: see writeAheadLog.ts.
    'synchronous = NORMAL',
    'wal_autocheckpoint = 0',
    `journal_size_limit = ${logLimit}`,
    'foreign_keys = ON',
    // Deleted rows are overwritten, not only unlinked.
    'secure_delete = ON',
    // A backup tool may hold the file for a moment.
    'busy_timeout = 5000',
  ]);
  try {
    // A file that can only be read opens all the same, and would fail at the first message. The number stays as it is.
    writer.pragma(`user_version = ${writer.value('user_version')}`);
    if (writer.value('auto_vacuum') === 0 && writer.size <= rewrittenAtStart) writer.exec('vacuum');
  } catch (error) {
    // A relay on a full disk starts: what is stored can be read.
    if (errorCode(error) !== 'SQLITE_FULL') {
      writer.close();
      throw error;
    }
  }
  const reader = openFile(file, readerSettings);
  const log = new WriteAheadLog(writer.file, reader);
  const group = new GroupCommit(writer, log);
  const runProgram = program as (queries: Queries, ...input: readonly unknown[]) => Promise<unknown>;
  let queries: Queries | null = null;

  function write({ sql, parameters }: Query): ThreadResult {
    group.requireOpen();
    try {
      return writer.run(sql, parameters);
    } catch (error) {
      group.checkLost(error);
      throw error;
    }
  }

  async function transaction<T>(run: () => T | Promise<T>): Promise<T> {
    await group.begin();
    let result: T;
    try {
      result = await run();
    } catch (error) {
      await group.rollback();
      throw error;
    }
    await group.commit();
    return result;
  }

  return {
    begin: () => group.begin(),
    commit: () => group.commit(),
    rollback: () => group.rollback(),
    write: async (query) => write(query),
    writeAlone: (query) => transaction(() => write(query)),
    read: async ({ sql, parameters }) => reader.run(sql, parameters),

    async define(statements) {
      queries = queriesOf(statements, write);
    },

    async run(...input) {
      const defined = queries;
      if (defined === null) throw new Error("The thread's program has no statements yet.");
      return transaction(() => runProgram(defined, ...input));
    },

    giveBack: (pages) => transaction(() => writer.giveBack(pages)),

    async close() {
      await group.settled();
      log.close();
      reader.close();
      // The binding's statements outlive its connection, which keeps SQLite from doing this by itself.
      writer.pragma('wal_checkpoint(TRUNCATE)');
      writer.close();
    },
  };
}

/**
 * One connection for reading, beside a thread that writes.
 * @throws SqliteError if the file can't be used
 */
export function serveReads(file: string): ReadingCalls {
  const reader = openFile(file, readerSettings);
  return {
    read: async ({ sql, parameters }) => reader.run(sql, parameters),
    close: async () => reader.close(),
  };
}

function openFile(file: string, settings: readonly string[]): SqliteFile {
  const open = new SqliteFile(file);
  try {
    for (const setting of settings) open.pragma(setting);
  } catch (error) {
    open.close();
    throw error;
  }
  return open;
}

function queriesOf(
  statements: Readonly<Record<string, Statement>>,
  run: (query: Query) => ThreadResult,
): Queries {
  const entries = Object.entries(statements).map(([name, { sql, parameters }]) => {
    const ask: Queries[string] = async (given) => {
      const values = parameters.map((parameter) =>
        parameter.name === null ? parameter.value : given[parameter.name],
      );
      return run({ sql, parameters: values }).rows;
    };
    return [name, ask] as const;
  });
  return Object.fromEntries(entries);
}
