import type { KeyedQueue } from './keyedQueue.ts';

/**
 * Lets one run of a task go on at a time. A call during a run asks for exactly one more after it, however many calls
 * come; every call resolves with the run that began after it. What a call brings along goes to the run that begins with
 * it; a run that was waited for gets nothing, since what was brought may be old by then.
 */
export function coalesce<T = never>(task: (brought?: T) => Promise<void>): (brought?: T) => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function run(brought?: T): Promise<void> {
    running = task(brought).finally(() => {
      running = null;
    });
    return running;
  }

  return (brought) => {
    if (running === null) return run(brought);
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return run();
      });
    return next;
  };
}

/** The same for tasks that take their turn in a queue: calls share the one that waits there and has not begun. */
export function coalesceInQueue<T>(
  queue: KeyedQueue,
  task: (key: string) => Promise<T>,
): (key: string) => Promise<T> {
  const waiting = new Map<string, Promise<T>>();
  return (key) => {
    const present = waiting.get(key);
    if (present !== undefined) return present;
    const run = queue(key, () => {
      waiting.delete(key);
      return task(key);
    });
    waiting.set(key, run);
    return run;
  };
}
