import path from 'node:path';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { errorCode, hasCode, StartupError } from '../errors.ts';
import { migrate } from './migrate.ts';
import type { Db, Tables } from './tables.ts';

export interface OpenDatabase {
  readonly db: Db;
  /** Finishes what runs, closes the files and lets go of the folder. */
  close(): Promise<void>;
}

/**
 * Opens the database in a data folder, brought up to date, and keeps every other relay out of that folder.
 * @param dataDir an existing folder
 * @throws StartupError if another relay holds the folder, or it holds no usable database
 */
export async function openSqlite(dataDir: string): Promise<OpenDatabase> {
  const unlock = lockFolder(dataDir);
  const db: Db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: async () => openFile(path.join(dataDir, 'relay.db')) }),
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

function openFile(file: string): SqliteDatabase {
  const database = open(file);
  try {
    database.pragma('journal_mode = WAL');
    // An acknowledged message survives a power cut: in WAL mode only FULL syncs every commit.
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    // What is deleted is overwritten, not only unlinked.
    database.pragma('secure_delete = ON');
    // A backup tool may hold the file for a moment.
    database.pragma('busy_timeout = 5000');
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    close: () => {
      // The driver's statements outlive it, which keeps SQLite from doing this by itself.
      database.pragma('wal_checkpoint(TRUNCATE)');
      database.close();
    },
    prepare: (sql) => {
      // SQLite rolls back by itself when the disk is full. A second rollback would fail and hide why.
      const statement = database.prepare(sql === 'rollback' && !database.inTransaction ? 'select 1' : sql);
      const rows = (parameters: readonly unknown[]) =>
        statement.all(bindable(parameters)).map((row) => withBuffers(row as Record<string, unknown>));
      return {
        reader: statement.reader,
        all: rows,
        run: (parameters) => statement.run(bindable(parameters)),
        iterate: (parameters) => rows(parameters).values(),
      };
    },
  };
}

/**
 * Parameters that the driver can take: given a boolean it ends the whole process, undefined it stores as null, and a
 * text it cuts at the first NUL. All three are defects of ours, since no schema lets them in.
 */
function bindable(parameters: readonly unknown[]): unknown[] {
  return parameters.map((value) => {
    const takes =
      value === null ||
      typeof value === 'number' ||
      value instanceof Uint8Array ||
      (typeof value === 'string' && !value.includes('\0'));
    if (!takes) throw new TypeError(`The database can't take this ${typeof value}.`);
    return value;
  });
}

/** The driver returns blobs as ArrayBuffer. */
function withBuffers(row: Record<string, unknown>): Record<string, unknown> {
  for (const [column, value] of Object.entries(row)) {
    if (value instanceof ArrayBuffer) row[column] = Buffer.from(value);
  }
  return row;
}
