const day = 24 * 60 * 60 * 1000;

/** Milliseconds by which a clock that is put right may move while the relay runs. */
const clockTolerance = day;

/**
 * The time that ages count by: a clock that is set ahead while the relay runs would make everything too old at once. A relay
 * that starts takes its clock as it is when it first asks.
 * @param elapsed milliseconds that have passed, whatever the clock was set to
 */
export function createSteadyClock(clock: () => number, elapsed = () => performance.now()): () => number {
  /** The clock as it was less what had passed by then; null before the first look. */
  let began: number | null = null;
  return () => {
    began ??= clock() - elapsed();
    return Math.min(clock(), began + elapsed() + clockTolerance);
  };
}
