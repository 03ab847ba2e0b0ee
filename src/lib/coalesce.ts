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
