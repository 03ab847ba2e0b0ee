import { describe, expect, it } from 'vitest';
import { createBackoff } from '#src/lib/backoff.ts';
import { coalesce, coalesceInQueue } from '#src/lib/coalesce.ts';
import { createKeyedQueue } from '#src/lib/keyedQueue.ts';
import { forEachLimited } from '#src/lib/parallel.ts';

/** A task that ends when it is told to. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('back-off', () => {
  it('doubles up to its limit, spread over the upper half', () => {
    const lowest = createBackoff({ baseMs: 100, maxMs: 1000, random: () => 0 });
    const highest = createBackoff({ baseMs: 100, maxMs: 1000, random: () => 1 });
    expect([1, 2, 3, 4, 5, 6].map(() => lowest.next())).toEqual([50, 100, 200, 400, 500, 500]);
    expect([1, 2, 3, 4, 5, 6].map(() => highest.next())).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  it('begins again after a success', () => {
    const backoff = createBackoff({ baseMs: 100, maxMs: 1000, random: () => 1 });
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.next()).toBe(100);
  });
});

describe('a keyed queue', () => {
  it('runs tasks of one key in order, and others beside them', async () => {
    const queue = createKeyedQueue();
    const order: string[] = [];
    const first = gate();
    const a1 = queue('a', async () => {
      await first.opened;
      order.push('a1');
    });
    const a2 = queue('a', async () => {
      order.push('a2');
    });
    await queue('b', async () => {
      order.push('b1');
    });
    expect(order).toEqual(['b1']);
    first.open();
    await Promise.all([a1, a2]);
    expect(order).toEqual(['b1', 'a1', 'a2']);
  });

  it('goes on after a failure, which only its own caller sees', async () => {
    const queue = createKeyedQueue();
    const failed = queue('a', () => Promise.reject(new Error('first')));
    const next = queue('a', async () => 'second');
    await expect(failed).rejects.toThrow('first');
    await expect(next).resolves.toBe('second');
  });
});

describe('coalesce', () => {
  it('turns all calls during a run into one more run', async () => {
    const gates = [gate(), gate(), gate()];
    let runs = 0;
    const run = coalesce(async () => {
      const current = gates[runs];
      runs += 1;
      await current?.opened;
    });
    const first = run();
    const later = [run(), run(), run()];
    expect(runs).toBe(1);
    for (const { open } of gates) open();
    await Promise.all([first, ...later]);
    expect(runs).toBe(2);
  });

  it('passes an argument to the run that the call begins, and none to a run that was waited for', async () => {
    const { open, opened } = gate();
    const brought: (string | undefined)[] = [];
    const run = coalesce<string>(async (one) => {
      brought.push(one);
      await opened;
    });
    const calls = [run('first'), run('second')];
    open();
    await Promise.all(calls);
    await run('third');
    expect(brought).toEqual(['first', undefined, 'third']);
  });

  it('runs again after a failure', async () => {
    let runs = 0;
    const run = coalesce(async () => {
      runs += 1;
      if (runs === 1) throw new Error('once');
    });
    const failed = run();
    const next = run();
    await expect(failed).rejects.toThrow('once');
    await next;
    expect(runs).toBe(2);
  });
});

describe('forEachLimited', () => {
  it('keeps to its limit and reaches every item although one fails', async () => {
    let running = 0;
    let most = 0;
    const seen: number[] = [];
    const all = forEachLimited([1, 2, 3, 4, 5], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      seen.push(item);
      if (item === 2) throw new Error('two');
    });
    await expect(all).rejects.toThrow('two');
    expect(most).toBe(2);
    expect(new Set(seen)).toEqual(new Set([1, 2, 3, 4, 5]));
  });
});

describe('coalesce in a queue', () => {
  it('lets calls share a run that waits for its turn, but not one that has begun', async () => {
    const queue = createKeyedQueue();
    const [before, begun, first] = [gate(), gate(), gate()];
    let runs = 0;
    const run = coalesceInQueue(queue, async () => {
      runs += 1;
      const number = runs;
      begun.open();
      await first.opened;
      return number;
    });
    void queue('a', () => before.opened);
    const waiting = [run('a'), run('a')];
    before.open();
    await begun.opened;
    const later = run('a');
    first.open();
    expect(await Promise.all(waiting)).toEqual([1, 1]);
    expect(await later).toBe(2);
  });
});
