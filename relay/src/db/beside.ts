import type { Config } from '../config.ts';
import { requireCurrent } from './migrate.ts';
import type { Db } from './tables.ts';

/** The database of a relay, for a command that runs beside it. */
export interface DatabaseBeside {
  readonly db: Db;
  /** Returns how the table without which nobody can be served is damaged; null if it is whole. PostgreSQL says so by itself. */
  damage(): Promise<string | null>;
  /** Bytes of the whole database. */
  size(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Opens the database that a relay with this configuration has, whether one runs or not, and leaves its schema as it is.
 * @throws StartupError if it can't be used, or is of another version
 */
export async function openBeside({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<DatabaseBeside> {
  const database = await open(databaseUrl, dataDir);
  try {
    await requireCurrent(database.db);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function open(databaseUrl: string | null, dataDir: string): Promise<DatabaseBeside> {
  if (databaseUrl === null) {
    const { openSqliteBeside } = await import('./sqlite/sqliteBeside.ts');
    return openSqliteBeside(dataDir);
  }
  const { openPostgresBeside } = await import('./postgres.ts');
  return openPostgresBeside(databaseUrl);
}
