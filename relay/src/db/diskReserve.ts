import type { FastifyBaseLogger } from 'fastify';
import { errorCode } from '../errorCode.ts';
import { ApiError } from '../errors.ts';

/** Bytes of the database's disk that what grows leaves to log-ins, deletions and the jobs that make room: these write, too. */
const reservedBytes = 64 * 1024 * 1024;
/** Milliseconds for which a look at the disk counts. */
const lookLasts = 250;

/** The last of the database's disk, which messages and accounts don't get. */
export interface DiskReserve {
  /** @throws ApiError storage-full if nothing but the reserve is left */
  requireRoom(): void;
}

export interface DiskReserveDependencies {
  /** Bytes that can be stored. Null where the database's disk can't be seen from here, as PostgreSQL's. */
  readonly free: (() => Promise<number>) | null;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'info' | 'warn'>;
}

export async function createDiskReserve({ free, log }: DiskReserveDependencies): Promise<DiskReserve> {
  if (free === null) return { requireRoom: () => undefined };
  let isLow = false;
  let lookedAt = -Infinity;

  async function look(read: () => Promise<number>): Promise<void> {
    lookedAt = performance.now();
    try {
      const wasLow = isLow;
      isLow = (await read()) < reservedBytes;
      if (isLow && !wasLow)
        log.error('the disk is full but for the reserve: only log-ins and deletions write');
      if (wasLow && !isLow) log.info('the disk has room again');
    } catch (error) {
      // The next write says by itself what is wrong with the disk.
      log.warn({ code: errorCode(error) }, 'the free space can’t be read');
    }
  }

  await look(free);
  return {
    requireRoom() {
      // A message doesn't wait for the look: what is written meanwhile is little beside the reserve.
      if (performance.now() - lookedAt >= lookLasts) void look(free);
      if (isLow) throw new ApiError('storage-full', 'The server has no space left.');
    },
  };
}
