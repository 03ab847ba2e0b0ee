import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { skeletonOf } from '../accounts/names.ts';
import type { NameIndex } from '../db/nameIndex.ts';
import type { Db } from '../db/tables.ts';
import { setSkeletons, withoutSkeleton } from '../repositories/skeletons.ts';

export interface NameJob {
  /**
   * Does for usernames of before what is done for new ones: takes them into the index, and gives them skeletons, beside
   * traffic. A failure is logged; the next start tries again.
   */
  start(): void;
  /** Resolves once it has stopped. */
  close(): Promise<void>;
}

export interface NameJobDependencies {
  readonly db: Db;
  readonly names: Pick<NameIndex, 'build'>;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Names of one bite, and the milliseconds between two bites, in which the thread that commits is messages' alone. */
const bite = { size: 100, rest: 10 };

export function createNameJob({ db, names, log }: NameJobDependencies): NameJob {
  const stop = new AbortController();
  let current: Promise<unknown> = Promise.resolve();
  return {
    start() {
      const index = names.build(stop.signal).catch((error: unknown) => {
        log.warn(
          { err: error },
          'usernames are found by their beginnings only: their index could not be made',
        );
      });
      const skeletons = fillSkeletons(db, stop.signal).catch((error: unknown) => {
        log.warn({ err: error }, 'older usernames are not compared with new ones that look like them');
      });
      current = Promise.all([index, skeletons]);
    },
    async close() {
      stop.abort();
      await current;
    },
  };
}

async function fillSkeletons(db: Db, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const people = await withoutSkeleton(db, bite.size);
    if (people.length === 0) return;
    const named = people.map((person) => ({ ...person, skeleton: skeletonOf(person.username) }));
    await db.transaction().execute((tx) => setSkeletons(tx, named));
    await sleep(bite.rest);
  }
}
