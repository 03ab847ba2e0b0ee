import path from 'node:path';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { hasCode, StartupError } from '../errors.ts';
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
 * @throws StartupError if another relay holds the folder
 */
export async function openSqlite(dataDir: string): Promise<OpenDatabase> {
  const unlock = lockFolder(dataDir);
  const db: Db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: () => openFile(path.join(dataDir, 'relay.db')) }),
  });
  const close = async () => {
    await db.destroy();
    unlock();
  };
  try {
    await migrate(db, { bytes: 'blob' });
  } catch (error) {
    await close();
    throw error;
  }
  return { db, close };
}

/**
 * Two relays on one folder would each believe that they alone number the conversations, and would not hear each
 * other's messages. The lock is a transaction held open in a database of its own: the system lets go of it however the
 * process ends, and relay.db stays readable to backup tools while the relay runs.
 */
function lockFolder(dataDir: string): () => void {
  const lock = new Database(path.join(dataDir, 'relay.lock'));
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!hasCode(error, 'SQLITE_BUSY')) throw error;
    throw new StartupError(
      `The data folder ${dataDir} is in use by another relay. Stop that one, or set DATA_DIR to another folder.`,
    );
  }
  return () => {
    lock.exec('rollback');
    lock.close();
  };
}

async function openFile(file: string): Promise<SqliteDatabase> {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  // An acknowledged message survives a power cut: in WAL mode only FULL syncs every commit.
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  // What is deleted leaves the file, not only the index.
  database.pragma('secure_delete = ON');
  // A backup tool may hold the file for a moment.
  database.pragma('busy_timeout = 5000');
  return {
    close: () => database.close(),
    prepare: (sql) => {
      const statement = database.prepare(sql);
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

/** The driver ends the whole process when it is given a boolean, and stores undefined as null: both are our defects. */
function bindable(parameters: readonly unknown[]): unknown[] {
  for (const value of parameters) {
    const known =
      value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array;
    if (!known) throw new TypeError(`A ${typeof value} can't be bound to a statement.`);
  }
  return [...parameters];
}

/** The driver returns blobs as ArrayBuffer. */
function withBuffers(row: Record<string, unknown>): Record<string, unknown> {
  for (const [column, value] of Object.entries(row)) {
    if (value instanceof ArrayBuffer) row[column] = Buffer.from(value);
  }
  return row;
}
