/** An allowance: `count` at once, and again as many spread evenly over `periodMs`. */
export interface Quota {
  readonly count: number;
  /** Milliseconds. */
  readonly periodMs: number;
}

export interface Taking {
  /** When the bucket will be full; unchanged if nothing was taken. */
  readonly fullAt: number;
  /** Milliseconds until the bucket has as much; 0 if it was taken. */
  readonly waitMs: number;
}

/**
 * A token bucket kept as one number, the time at which it will be full (the "theoretical arrival time" of the generic
 * cell rate algorithm, ITU-T I.371 annex A): a bucket that is full needs no storage at all.
 * @param fullAt milliseconds since the epoch, as the last call returned it; anything past means full
 * @param amount what is more than the bucket can ever hold takes all of it
 */
export function takeFrom(fullAt: number, { count, periodMs }: Quota, now: number, amount = 1): Taking {
  // No bucket takes longer than its period to fill: it only seems to when the clock has been set back.
  const isPossible = fullAt <= now + periodMs + 1;
  const fuller = (isPossible ? Math.max(fullAt, now) : now) + (Math.min(amount, count) * periodMs) / count;
  const waitMs = fuller - now - periodMs;
  // Dividing leaves less than a microsecond of error, which must not refuse the last one of a bucket.
  return waitMs > 1e-3 ? { fullAt, waitMs: Math.ceil(waitMs) } : { fullAt: fuller, waitMs: 0 };
}
