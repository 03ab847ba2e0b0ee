import { createBackoff } from '../../lib/backoff.ts';
import { delay } from '../../lib/clock.ts';
import type { Blobs } from '../../net/blobs.ts';
import type { Deps } from '../core/deps.ts';
import { isPassing } from '../core/failures.ts';

const retryBase = 1_000;
const retryMax = 15_000;
/** Milliseconds of waiting, since the last bytes came, after which each file is asked for once only. */
const patience = 60_000;

/**
 * Reads files as long as a relay that is out of reach for a moment, or that asks to wait, comes back soon: of an export of
 * thousands of files none is lost then, and without a relay it comes to its end all the same.
 */
export function createPatientBlobs(
  { clock, random }: Pick<Deps, 'clock' | 'random'>,
  blobs: Pick<Blobs, 'read'>,
  signal: AbortSignal,
): Pick<Blobs, 'read'> {
  let waited = 0;
  return {
    async read(...range) {
      const backoff = createBackoff({ baseMs: retryBase, maxMs: retryMax, random });
      for (;;) {
        signal.throwIfAborted();
        try {
          const bytes = await blobs.read(...range);
          waited = 0;
          return bytes;
        } catch (error) {
          if (!isPassing(error) || waited >= patience) throw error;
        }
        const ms = backoff.next();
        waited += ms;
        await delay(clock, ms);
      }
    },
  };
}
