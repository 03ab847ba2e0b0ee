/**
 * Lets one run of a task go on at a time. A call during a run asks for exactly one more after it, however many calls
 * come; every call resolves with the run that began after it.
 */
export function coalesce(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function run(): Promise<void> {
    running = task().finally(() => {
      running = null;
    });
    return running;
  }

  return () => {
    if (running === null) return run();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return run();
      });
    return next;
  };
}
