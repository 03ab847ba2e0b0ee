/** Runs a task for each item, at most `limit` at a time. Rejects with the first failure after all have ended. */
export async function forEachLimited<T>(
  items: Iterable<T>,
  limit: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const failures: unknown[] = [];
  async function worker(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      await task(item).catch((error: unknown) => failures.push(error));
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, queue.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
