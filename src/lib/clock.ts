export interface Timer {
  cancel(): void;
}

/** Time as an argument, so that a test can own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since some moment, by a clock that nobody sets: for how long something lasts while the page is open. */
  monotonicNow(): number;
  after(ms: number, task: () => void): Timer;
  every(ms: number, task: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  after: (ms, task) => {
    const timer = setTimeout(task, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  every: (ms, task) => {
    const timer = setInterval(task, ms);
    return { cancel: () => clearInterval(timer) };
  },
};

/** RFC 3339 in UTC with milliseconds, as the relay's contract wants it. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

export function delay(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
