import path from 'node:path';
import { Kysely } from 'kysely';
import Database from 'libsql';
import { errorCode, hasCode, StartupError } from '../errors.ts';
import { migrate } from './migrate.ts';
import { SqliteDialect, type SqliteFiles } from './sqliteDriver.ts';
import { SqliteFile } from './sqliteFile.ts';
import type { Db, OpenDatabase, Tables } from './tables.ts';
import { logLimit } from './writeAheadLog.ts';

/**
 * Opens the database in a data folder, brought up to date, and keeps every other relay out of that folder.
 * @param dataDir an existing folder
 * @throws StartupError if another relay holds the folder, or it holds no usable database
 */
export async function openSqlite(dataDir: string): Promise<OpenDatabase> {
  const unlock = lockFolder(dataDir);
  const db: Db = new Kysely<Tables>({
    dialect: new SqliteDialect(() => openFiles(path.join(dataDir, 'relay.db'))),
  });
  const close = async () => {
    await db.destroy();
    unlock();
  };
  try {
    await migrate(db, { bytes: 'blob' });
  } catch (error) {
    await close();
    throw unusable(dataDir, error);
  }
  return { db, close };
}

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
 * SQLite's own refusals are for the operator; anything else is a defect and keeps its stack. To a file that can't be
 * opened the driver gives no code, only this name.
 */
function unusable(dataDir: string, error: unknown): unknown {
  const fromSqlite =
    errorCode(error)?.startsWith('SQLITE_') === true || /ConnectionFailed/.test(String(error));
  if (!fromSqlite || !(error instanceof Error)) return error;
  return new StartupError(`The data folder ${dataDir} can't be used: ${error.message}.`);
}

function openFiles(file: string): SqliteFiles {
  const writer = openFile(file, [
    'journal_mode = WAL',
    // Each commit is synced all the same, and the log kept short: see writeAheadLog.ts.
    'synchronous = NORMAL',
    'wal_autocheckpoint = 0',
    `journal_size_limit = ${logLimit}`,
    'foreign_keys = ON',
    // What is deleted is overwritten, not only unlinked.
    'secure_delete = ON',
    // A backup tool may hold the file for a moment.
    'busy_timeout = 5000',
  ]);
  const reader = openFile(file, ['query_only = ON', 'busy_timeout = 5000']);
  return { writer, reader };
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
