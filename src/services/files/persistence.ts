import { AppError } from '../../lib/appError.ts';
import { createBackoff } from '../../lib/backoff.ts';
import { delay } from '../../lib/clock.ts';
import { BlobError } from '../../net/blobs.ts';
import type { SessionDeps } from '../core/deps.ts';
import { isPassing } from '../core/failures.ts';

const retryBase = 1_000;
const retryMax = 30_000;

/** Returns whether the relay may do later what it doesn't now. A failure to read a file has a sentence around it. */
export const mayServeLater = (error: unknown) => isPassing(error instanceof AppError ? error.cause : error);

/** Returns a function that does a step of a message until it is done, or fails for a reason that waiting doesn't change. */
export function createPersistence({
  deps: { clock, random },
  isActive,
  onWaiting,
}: {
  readonly deps: Pick<SessionDeps, 'clock' | 'random'>;
  readonly isActive: () => boolean;
  readonly onWaiting: (messageId: string) => void;
}) {
  return async (messageId: string, signal: AbortSignal, attempt: () => Promise<void>): Promise<void> => {
    const backoff = createBackoff({ baseMs: retryBase, maxMs: retryMax, random });
    for (;;) {
      try {
        await attempt();
        return;
      } catch (error) {
        signal.throwIfAborted();
        const mayPass =
          mayServeLater(error) || (error instanceof BlobError && error.code !== 'unsupported-version');
        if (!isActive() || !mayPass) throw error;
        onWaiting(messageId);
      }
      await delay(clock, backoff.next());
      signal.throwIfAborted();
    }
  };
}
