import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { OpenDatabase } from './tables.ts';

/**
 * PostgreSQL if it is configured, otherwise SQLite in the data folder; brought up to date.
 * @throws StartupError if it can't be used, or another relay that doesn't share work with this one uses it
 */
export function openDatabase(
  config: Config,
  log: Pick<FastifyBaseLogger, 'error' | 'warn'>,
): Promise<OpenDatabase> {
  const { databaseUrl, databasePoolSize, redisUrl, dataDir } = config;
  if (databaseUrl === null) return openSqlite(dataDir);
  return openPostgres({ url: databaseUrl, poolSize: databasePoolSize, isShared: redisUrl !== null, log });
}
