export interface Backoff {
  /** Milliseconds to wait before the next attempt; each call counts as one attempt. */
  next(): number;
  /** To be called once an attempt has succeeded. */
  reset(): void;
}

/**
 * Exponential back-off with jitter: between half and the whole of `baseMs`·2ⁿ, at most `maxMs`. The jitter keeps clients
 * that lost the relay together from coming back together.
 * @param random a number in [0, 1)
 */
export function createBackoff(options: { baseMs: number; maxMs: number; random: () => number }): Backoff {
  let attempt = 0;
  return {
    next() {
      const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt, 30));
      attempt += 1;
      return Math.round(ceiling / 2 + (ceiling / 2) * options.random());
    },
    reset() {
      attempt = 0;
    },
  };
}
