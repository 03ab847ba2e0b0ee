import type { FastifyBaseLogger } from 'fastify';
import type { NameIndex } from '../db/nameIndex.ts';

export interface NameJob {
  /** Takes the names of before there was an index into it, beside traffic. A failure is logged; the next start tries again. */
  start(): void;
  /** Resolves once it has stopped. */
  close(): Promise<void>;
}

export interface NameJobDependencies {
  readonly names: Pick<NameIndex, 'build'>;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

export function createNameJob({ names, log }: NameJobDependencies): NameJob {
  const stop = new AbortController();
  let current: Promise<void> = Promise.resolve();
  return {
    start() {
      current = names.build(stop.signal).catch((error: unknown) => {
        log.warn(
          { err: error },
          'usernames are found by their beginnings only: their index could not be made',
        );
      });
    },
    async close() {
      stop.abort();
      await current;
    },
  };
}
