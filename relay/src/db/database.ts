import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { OpenDatabase } from './tables.ts';

/**
 * PostgreSQL if it is configured, otherwise SQLite in the data folder; brought up to date.
 * @throws StartupError if it can't be used, or another relay that doesn't share work with this one uses it
 */
export async function openDatabase(
  config: Config,
  log: Pick<FastifyBaseLogger, 'error' | 'warn'>,
): Promise<OpenDatabase> {
  const { databaseUrl, databasePoolSize, redisUrl, dataDir } = config;
  // Loaded when it is used: the driver of the other one takes megabytes.
  if (databaseUrl === null) {
    const { openSqlite } = await import('./sqlite.ts');
    return openSqlite(dataDir);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({ url: databaseUrl, poolSize: databasePoolSize, isShared: redisUrl !== null, log });
}
