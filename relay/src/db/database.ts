import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { OpenDatabase } from './openDatabase.ts';

export interface DatabaseOptions {
  readonly config: Config;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** The program of SQLite's thread: see `openSqlite`. */
  readonly threadEntry: URL;
}

/**
 * Opens PostgreSQL if it is configured, otherwise SQLite in the data folder, and brings its schema up to date.
 * @throws StartupError if it can't be used, or another relay that doesn't share work with this one uses it
 */
export async function openDatabase({ config, log, threadEntry }: DatabaseOptions): Promise<OpenDatabase> {
  const { databaseUrl, databasePoolSize, redis, dataDir } = config;
  // Only the driver that is used is loaded: each takes megabytes.
  if (databaseUrl === null) {
    const { openSqlite } = await import('./sqlite/sqlite.ts');
    return openSqlite(dataDir, threadEntry);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({ url: databaseUrl, poolSize: databasePoolSize, isShared: redis !== null, log });
}
