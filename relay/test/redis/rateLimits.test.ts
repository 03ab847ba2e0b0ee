import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Bucket, RateLimitStore } from '../../src/rateLimits/store.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { createRelays, serverAt } from './relays.ts';

let server: RedisServer;
const relays = createRelays(() => serverAt(server.url));
beforeAll(async () => {
  server = await startRedis();
});
afterEach(() => relays.closeAll());
afterAll(() => server.remove());

const hour = 3_600_000;
const bucket = (overrides: Partial<Bucket> = {}): Bucket => ({
  key: `test ${randomUUID()}`,
  count: 5,
  periodMs: hour,
  ...overrides,
});
const stores = async () => {
  const [one, other] = [await relays.open(), await relays.open()];
  return [one.rateLimitStore, other.rateLimitStore] as const;
};
const taken = async (store: RateLimitStore, from: Bucket, times: number) => {
  const waits = await Promise.all(Array.from({ length: times }, () => store.take(from)));
  return waits.filter((wait) => wait === 0).length;
};

describe('the buckets of several relays', () => {
  it('are the same for all: no more is taken than one holds, however many take at once', async () => {
    const [one, other] = await stores();
    const from = bucket();
    const counts = await Promise.all([taken(one, from, 4), taken(other, from, 4)]);
    expect(counts[0] + counts[1]).toBe(5);
    const wait = await one.take(from);
    expect(wait).toBeGreaterThan(hour / 5 - 60_000);
    expect(wait).toBeLessThanOrEqual(hour / 5);
    expect(await taken(other, bucket(), 5)).toBe(5);
  });

  it('give more than one at a time, or nothing; of too much, all that they hold', async () => {
    const [one, other] = await stores();
    const from = bucket();
    expect(await one.take(from, 3)).toBe(0);
    expect(await other.take(from, 3)).toBeGreaterThan(0);
    expect(await other.take(from, 2)).toBe(0);
    expect(await taken(one, from, 1)).toBe(0);
    expect(await one.take(bucket(), 50)).toBe(0);
  });

  it('get back what did not count, and never more than they hold', async () => {
    const [one, other] = await stores();
    const from = bucket();
    expect(await taken(one, from, 5)).toBe(5);
    await other.giveBack(from);
    expect(await taken(one, from, 2)).toBe(1);
    for (let index = 0; index < 10; index += 1) await other.giveBack(from);
    expect(await taken(one, from, 10)).toBe(5);
    await other.giveBack(from, 3);
    expect(await taken(one, from, 10)).toBe(3);
  });

  it('fill with time', async () => {
    const [one] = await stores();
    // One a millisecond.
    const from = bucket({ count: 50, periodMs: 50 });
    let total = 0;
    for (let index = 0; index < 20; index += 1) total += await taken(one, from, 50);
    expect(total).toBeGreaterThan(50);
  });

  it("are each relay's own while Redis is away", async () => {
    const [one, other] = await stores();
    const from = bucket();
    await server.crash();
    expect([await taken(one, from, 8), await taken(other, from, 8)]).toEqual([5, 5]);
    await one.giveBack(from);
    expect(await taken(one, from, 8)).toBe(1);
    await server.start();
  }, 30_000);
});
