import type { Clock, Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Background } from '../core/failures.ts';
import { timings } from '../core/timings.ts';

export interface CatchUpTiming {
  /** Reads what was missed once events are heard, or when that takes too long. */
  soon(): void;
  now(): void;
  /** Events will not be heard for a while: what waits for them is read without. */
  hasten(): void;
  cancel(): void;
}

export interface CatchUpOptions {
  readonly clock: Clock;
  readonly isHearing: () => boolean;
  readonly read: () => Promise<unknown>;
  readonly background: Background;
}

/**
 * When to ask the relay for everything that may have changed. What is read once the own topic is subscribed to misses
 * nothing, because whatever changes later is told of; what is read before has to be read again. So a start shows what
 * this browser has kept and waits for the subscription, which {@link CatchUpTiming.now} is called with, but not for ever.
 */
export function createCatchUp({ background, clock, isHearing, read }: CatchUpOptions): CatchUpTiming {
  const run = coalesce(async () => void (await read()));
  let patience: Timer | null = null;

  function cancel(): void {
    patience?.cancel();
    patience = null;
  }

  function now(): void {
    cancel();
    background(run);
  }

  return {
    soon() {
      if (isHearing()) now();
      else patience ??= clock.after(timings.subscriptionPatience, now);
    },
    now,
    hasten() {
      if (patience !== null) now();
    },
    cancel,
  };
}
