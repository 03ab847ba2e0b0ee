import type { Clock, Timer } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Background } from '../core/failures.ts';
import { timings } from '../core/timings.ts';

export interface CatchUpTiming {
  /** Reads what was missed once events are heard, or when that takes too long. */
  soon(): void;
  now(): void;
  /** Reads at once if {@link soon} is waiting, because events will not be heard for a while. */
  stopWaiting(): void;
  cancel(): void;
}

export interface CatchUpOptions {
  readonly clock: Clock;
  readonly isHearing: () => boolean;
  readonly read: () => Promise<unknown>;
  readonly background: Background;
}

/**
 * Decides when to ask the relay for everything that may have changed. A reading after the own topic was subscribed to
 * misses nothing, because later changes come as events; an earlier one has to be repeated. So a start shows what
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
    stopWaiting() {
      if (patience !== null) now();
    },
    cancel,
  };
}
