import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { Kysely, PostgresDialect, sql, type Transaction, type TransactionBuilder } from 'kysely';
import { Client, type ClientConfig, DatabaseError, Pool, types } from 'pg';
import { StartupError } from '../errors.ts';
import type { DatabaseBeside } from './beside.ts';
import { isConflict } from './failures.ts';
import { migrate } from './migrate.ts';
import type { OpenDatabase } from './openDatabase.ts';
import { lockDatabase } from './postgresLock.ts';
import { openNameIndex } from './postgresNameIndex.ts';
import type { Db, Tables } from './tables.ts';

export interface PostgresOptions {
  /** A connection URI as libpq has them, e.g. postgresql://sinetti@localhost/sinetti */
  readonly url: string;
  /** The most connections that this relay opens; one more watches who else uses the database. */
  readonly poolSize: number;
  /** True if other relays may use the database too, because all of them share work through Redis. */
  readonly isShared: boolean;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** Milliseconds to wait for a relay that is leaving, or whose death the server has yet to notice. */
  readonly patienceMs?: number;
}

/** The number of attempts at a transaction that conflicts with another one, the first one included. */
const maxAttempts = 5;

/**
 * Opens a PostgreSQL database, brought up to date.
 * @throws StartupError if it can't be used, or is used by a relay that this one doesn't share work with
 */
export async function openPostgres(options: PostgresOptions): Promise<OpenDatabase> {
  const { url } = options;
  const db = connectTo(options);
  let leave = async () => {};
  const close = async () => {
    await db.destroy();
    await leave();
  };
  const connect = () => new Client(connectionOptions(url));
  try {
    await requireUtf8(db);
    leave = await lockDatabase(connect, options);
    await migrate(db, { bytes: 'bytea' });
    return {
      db,
      program: null,
      names: await openNameIndex(db, connect),
      giveBack: null,
      size: () => sizeOf(db),
      close,
    };
  } catch (error) {
    await close();
    throw unusable(error);
  }
}

/**
 * Opens a PostgreSQL database for a command that runs beside the relays, without their lock, and leaves its schema as it is.
 * @throws StartupError if it can't be used
 */
export async function openPostgresBeside(url: string): Promise<DatabaseBeside> {
  const db = connectTo({ url, poolSize: 2, log: { warn: () => {} } });
  try {
    await requireUtf8(db);
  } catch (error) {
    await db.destroy();
    throw unusable(error);
  }
  return {
    db,
    damage: async () => null,
    size: () => sizeOf(db),
    close: () => db.destroy(),
  };
}

async function sizeOf(db: Db): Promise<number> {
  const { rows } = await sql<{
    size: number;
  }>`select pg_database_size(current_database()) as size`.execute(db);
  return rows[0]?.size ?? 0;
}

function connectTo({
  url,
  poolSize,
  log,
}: Pick<PostgresOptions, 'url' | 'poolSize'> & { log: Pick<FastifyBaseLogger, 'warn'> }): RetryingKysely {
  const pool = new Pool({ ...connectionOptions(url), max: poolSize, types: { getTypeParser } });
  // An idle connection that breaks is replaced when the next one is needed.
  pool.on('error', (error) => log.warn({ err: error }, 'a connection to the database was lost'));
  // A connection in use fails its query too; without a listener of its own the error would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return new RetryingKysely({ dialect: new PostgresDialect({ pool }) });
}

function connectionOptions(connectionString: string): ClientConfig {
  return {
    connectionString,
    application_name: 'sinetti-relay',
    connectionTimeoutMillis: 5000,
    // A partition must not leave requests, or locks, waiting for good.
    keepAlive: true,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 60_000,
    // A commit waits for the disk, and for the synchronous standbys if there are any, whatever the server's
    // default.
    options: '-c synchronous_commit=on',
  };
}

/** The object ids of 64-bit integers, and of their sums, which the driver would hand over as text. */
const numberTypes: ReadonlySet<number> = new Set([types.builtins.INT8, types.builtins.NUMERIC]);

const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') => {
  return numberTypes.has(oid) ? parseInteger : types.getTypeParser(oid, format);
};

function parseInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('The database holds a number beyond 2^53.');
  return number;
}

/**
 * Transactions run at READ COMMITTED: those that decide on the same rows lock them first. Two that still meet (they
 * insert one key, or wait for each other) would fail for what the other did; they begin again and see it.
 */
class RetryingKysely extends Kysely<Tables> {
  override transaction(): TransactionBuilder<Tables> {
    const builder = super.transaction();
    const execute = builder.execute.bind(builder);
    builder.execute = async <T>(callback: (tx: Transaction<Tables>) => Promise<T>): Promise<T> => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await execute(callback);
        } catch (error) {
          if (attempt === maxAttempts || !isConflict(error)) throw error;
          await sleep(Math.random() * 20 * attempt);
        }
      }
    };
    return builder;
  }
}

async function requireUtf8(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db);
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8') return;
  throw new StartupError(`The database at DATABASE_URL has the encoding ${encoding}. Create it with UTF8.`);
}

/** PostgreSQL's own refusals, and the network's, are for the operator; anything else is a defect and keeps its stack. */
function unusable(error: unknown): unknown {
  if (error instanceof StartupError || !(error instanceof Error)) return error;
  const isRefusal = error instanceof DatabaseError || 'syscall' in error || error instanceof AggregateError;
  if (!isRefusal && !/^(Connection terminated|timeout expired)/.test(error.message)) return error;
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  const reason = first instanceof Error ? first.message : error.message;
  return new StartupError(`The database at DATABASE_URL can't be used: ${reason}.`);
}
