import path from 'node:path';
import { Kysely, sql } from 'kysely';
import Database from 'libsql';
import { errorCode } from '../../errorCode.ts';
import { hasCode, notWritable, StartupError } from '../../errors.ts';
import { migrate } from '../migrate.ts';
import type { OpenDatabase, RemoteProgram } from '../openDatabase.ts';
import type { Db, Tables } from '../tables.ts';
import { SqliteDialect } from './sqliteDriver.ts';
import { openNameIndex } from './sqliteNameIndex.ts';
import { SqliteThread } from './thread/client.ts';

/**
 * Opens the database in a data folder, brought up to date, and keeps every other relay out of that folder.
 * @param dataDir an existing folder
 * @param threadEntry a file of JavaScript that calls `runSqliteThread` with the program for the thread
 * @throws StartupError if another relay holds the folder, or it holds no usable database
 */
export async function openSqlite(dataDir: string, threadEntry: URL): Promise<OpenDatabase> {
  const unlock = lockFolder(dataDir);
  let close = async () => unlock();
  try {
    const file = path.join(dataDir, 'relay.db');
    const thread = await SqliteThread.open(file, threadEntry);
    const db: Db = new Kysely<Tables>({ dialect: new SqliteDialect(() => thread) });
    const names = openNameIndex(db, file, threadEntry);
    close = async () => {
      // Before the writer, which leaves one whole file when it is the last.
      await names.close();
      await thread.close();
      unlock();
    };
    await migrate(db, { bytes: 'blob' });
    await requireWhole(db, dataDir);
    const program: RemoteProgram = {
      define: (statements) => thread.call('define', statements),
      run: (...input) => thread.call('run', ...input),
    };
    const giveBack = (pages: number) => thread.call('giveBack', pages);
    const size = async () => {
      const { rows } = await sql<{
        size: number;
      }>`select page_count * page_size as size from pragma_page_count(), pragma_page_size()`.execute(db);
      return rows[0]?.size ?? 0;
    };
    return { db, program, names, giveBack, size, close };
  } catch (error) {
    await close();
    throw unusable(dataDir, error);
  }
}

/**
 * Reads the table without which nobody can be served: about 2.5 s for a million accounts. A damaged page elsewhere fails the
 * requests that meet it.
 */
async function requireWhole(db: Db, dataDir: string): Promise<void> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(users)`.execute(db);
  const [first] = rows;
  if (first?.quick_check === 'ok') return;
  throw damaged(dataDir, first?.quick_check ?? 'no answer');
}

const damaged = (dataDir: string, reason: string) =>
  new StartupError(
    `The database in ${dataDir} is damaged (${reason.replaceAll(/\s+/g, ' ').trim()}). Restore a backup.`,
  );

/**
 * Two relays on one folder would each believe that they alone number the conversations, and would not hear each
 * other's messages. The lock is a transaction held open in a database of its own: the system lets go of it however the
 * process ends, and relay.db stays readable to backup tools while the relay runs.
 */
function lockFolder(dataDir: string): () => void {
  const lock = open(path.join(dataDir, 'relay.lock'));
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!hasCode(error, 'SQLITE_BUSY')) throw unusable(dataDir, error);
    throw new StartupError(
      `The data folder ${dataDir} is in use by another relay. Stop that one, or set DATA_DIR to another folder.`,
    );
  }
  return () => {
    lock.exec('rollback');
    lock.close();
  };
}

function open(file: string): Database.Database {
  try {
    return new Database(file);
  } catch (error) {
    throw unusable(path.dirname(file), error);
  }
}

/**
 * SQLite's own refusals are for the operator; anything else is a defect and keeps its stack. To some of them the driver
 * gives no code, only a name.
 */
function unusable(dataDir: string, error: unknown): unknown {
  const code = errorCode(error) ?? '';
  const fromSqlite = code.startsWith('SQLITE_') || /ConnectionFailed|^SqliteError/.test(String(error));
  if (!fromSqlite || !(error instanceof Error)) return error;
  if (code.startsWith('SQLITE_READONLY') || /readonly database/.test(error.message)) {
    return notWritable(dataDir);
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(dataDir, error.message);
  return new StartupError(`The data folder ${dataDir} can't be used: ${error.message}.`);
}
