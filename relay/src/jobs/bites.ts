import { setTimeout as sleep } from 'node:timers/promises';

/** The rest after a bite, as a multiple of the time it took: so a job has a fifth of the database at most. */
const restShare = 4;
const shortestRestMs = 5;

/** Waits between two bites, for milliseconds; a simulation doesn't. */
export type Rest = (milliseconds: number) => Promise<unknown>;

/** Work in small bites beside traffic. */
export interface Bites {
  /** Takes a bite, and rests. */
  one<T>(take: () => Promise<T>): Promise<T>;
  /** Takes bites until one of them was the last, or the work is to stop. */
  all(take: () => Promise<'more' | 'last'>): Promise<void>;
}

export function createBites(signal: AbortSignal, rest: Rest = sleep): Bites {
  const bites: Bites = {
    async one(take) {
      const start = performance.now();
      const taken = await take();
      await rest(Math.max(shortestRestMs, restShare * (performance.now() - start)));
      return taken;
    },
    async all(take) {
      while (!signal.aborted && (await bites.one(take)) === 'more');
    },
  };
  return bites;
}
