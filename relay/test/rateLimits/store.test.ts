import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bucket, MemoryRateLimitStore } from '../../src/rateLimits/store.ts';

const bucket = (key: string): Bucket => ({ key, count: 3, periodMs: 900 });

function createStore(maxBuckets?: number) {
  const state = { now: 1_700_000_000_000 };
  return { state, store: new MemoryRateLimitStore(() => state.now, maxBuckets) };
}

describe('a bucket of calls', () => {
  it('gives its count at once, then one each share of its period, and says how long to wait', async () => {
    const { state, store } = createStore();
    const take = () => store.take(bucket('a'));
    expect([await take(), await take(), await take(), await take()]).toEqual([0, 0, 0, 300]);
    state.now += 299;
    expect(await take()).toBe(1);
    state.now += 1;
    expect([await take(), await take()]).toEqual([0, 300]);
    state.now += 10_000;
    expect([await take(), await take(), await take(), await take()]).toEqual([0, 0, 0, 300]);
  });

  it('gives more than one at a time, or nothing; of too much, all that it holds', async () => {
    const { state, store } = createStore();
    expect(await store.take(bucket('a'), 2)).toBe(0);
    expect(await store.take(bucket('a'), 2)).toBe(300);
    expect(await store.take(bucket('a'))).toBe(0);
    expect(await store.take(bucket('a'), 50)).toBe(900);
    state.now += 900;
    expect(await store.take(bucket('a'), 50)).toBe(0);
    expect(await store.take(bucket('a'))).toBe(300);
  });

  it('is one for each key', async () => {
    const { store } = createStore();
    for (let taken = 0; taken < 3; taken++) await store.take(bucket('a'));
    expect(await store.take(bucket('b'))).toBe(0);
    expect(await store.take(bucket('a'))).toBe(300);
  });

  it('takes back what did not count, and never holds more than its count', async () => {
    const { store } = createStore();
    await store.take(bucket('a'));
    for (let given = 0; given < 5; given++) await store.giveBack(bucket('a'));
    await store.giveBack(bucket('unknown'));
    const waits = [];
    for (let taken = 0; taken < 4; taken++) waits.push(await store.take(bucket('a')));
    expect(waits).toEqual([0, 0, 0, 300]);
    await store.giveBack(bucket('a'), 2);
    expect([await store.take(bucket('a'), 2), await store.take(bucket('a'))]).toEqual([0, 300]);
  });

  it('starts anew when the clock is set back, instead of waiting for the time that was', async () => {
    const { state, store } = createStore();
    await store.take(bucket('a'));
    state.now -= 86_400_000;
    expect([await store.take(bucket('a')), await store.take(bucket('a'))]).toEqual([0, 0]);
  });

  it('never gives more in any stretch of time than its count and what refills meanwhile', async () => {
    const quota = fc.record({
      count: fc.integer({ min: 1, max: 50 }),
      periodMs: fc.integer({ min: 1, max: 1e6 }),
    });
    const pauses = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 120 });
    const check = fc.asyncProperty(quota, pauses, async ({ count, periodMs }, steps) => {
      const { state, store } = createStore();
      const taken: number[] = [];
      for (const step of steps) {
        state.now += step;
        const waitMs = await store.take({ key: 'a', count, periodMs });
        if (waitMs === 0) taken.push(state.now);
        expect(waitMs).toBeLessThanOrEqual(Math.ceil(periodMs / count));
      }
      for (const [first, from] of taken.entries()) {
        for (let last = first; last < taken.length; last++) {
          const refilled = (((taken[last] ?? 0) - from) * count) / periodMs;
          expect(last - first + 1).toBeLessThanOrEqual(count + refilled + 1e-3);
        }
      }
    });
    await fc.assert(check, { seed: 0x51ae7, numRuns: 200 });
  });
});

describe('the memory of buckets', () => {
  it('holds no bucket that is full again', async () => {
    const { state, store } = createStore();
    for (let key = 0; key < 1000; key++) await store.take(bucket(String(key)));
    expect(store.size).toBe(1000);
    state.now += 1000;
    for (let key = 0; key < 1000; key++) await store.take(bucket('another'));
    expect(store.size).toBe(1);
  });

  it('is bounded: of too many, the bucket used longest ago goes', async () => {
    const { store } = createStore(10);
    for (let taken = 0; taken < 3; taken++) await store.take(bucket('kept'));
    for (let key = 0; key < 100; key++) {
      await store.take(bucket(String(key)));
      await store.take(bucket('kept'));
    }
    expect(store.size).toBe(10);
    expect(await store.take(bucket('kept'))).toBe(300);
  });
});
