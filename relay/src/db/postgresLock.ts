import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Client } from 'pg';
import { StartupError } from '../errors.ts';

/** Any number would do; all relays must use the same. */
const lockKey = 7_368_747_691;
const defaultPatienceMs = 5000;
const pollMs = 100;

export interface DatabaseLockOptions {
  /** True if this relay shares work with others. */
  readonly isShared: boolean;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** A killed relay's lock is gone as soon as the server has seen its connection break. */
  readonly patienceMs?: number;
}

/**
 * Locks the database for this relay: alone, or together with others that share work. A relay on its own
 * believes that everything new passes through it, so its clients wouldn't hear of another's messages. The
 * server drops the lock however the process ends; when the connection breaks, it is taken again.
 * @param newClient not connected yet
 * @returns a function that releases the lock
 * @throws StartupError if the relays in it, or this one, don't share
 */
export async function lockDatabase(
  newClient: () => Client,
  { isShared, log, patienceMs = defaultPatienceMs }: DatabaseLockOptions,
): Promise<() => Promise<void>> {
  const leaving = new AbortController();
  let current: Client | null = null;

  const join = async () => {
    const client = newClient();
    // 'end' follows.
    client.on('error', () => {});
    await client.connect();
    if (!(await lock(client, isShared, patienceMs))) {
      await client.end();
      throw new StartupError(
        'The database at DATABASE_URL is in use by another relay. Stop that one, or set REDIS_URL for all of them.',
      );
    }
    if (leaving.signal.aborted) return client.end();
    current = client;
    client.once('end', () => {
      if (!leaving.signal.aborted) void rejoin();
    });
  };
  const rejoin = async () => {
    log.warn('the lock of the database was lost with its connection');
    while (!leaving.signal.aborted) {
      try {
        return await join();
      } catch (error) {
        if (error instanceof StartupError) log.error({ err: error }, 'another relay uses the database');
        await sleep(1000, undefined, { ref: false });
      }
    }
  };

  await join();
  return async () => {
    leaving.abort();
    await current?.end();
  };
}

async function lock(client: Client, isShared: boolean, patienceMs: number): Promise<boolean> {
  const call = isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  for (let waited = 0; ; waited += pollMs) {
    const { rows } = await client.query<{ taken: boolean }>(`select ${call}($1) as taken`, [lockKey]);
    if (rows[0]?.taken === true) return true;
    if (waited >= patienceMs) return false;
    await sleep(pollMs);
  }
}
