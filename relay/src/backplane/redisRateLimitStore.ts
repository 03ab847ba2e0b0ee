import type { Bucket, RateLimitStore } from '../rateLimits/store.ts';
import { keys } from './keys.ts';
import type { Connection } from './redisLink.ts';

/**
 * Does the same as `takeFrom` in rateLimits/bucket.ts, by Redis's clock. A bucket's key lasts until it is
 * full.
 */
const takeScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local period = tonumber(ARGV[2])
local fullAt = tonumber(redis.call('GET', KEYS[1]) or '0')
if fullAt < now or fullAt > now + period + 1 then fullAt = now end
local fuller = fullAt + math.min(ARGV[3], ARGV[1]) * period / ARGV[1]
local wait = fuller - now - period
if wait > 0.001 then return math.ceil(wait) end
redis.call('SET', KEYS[1], string.format('%.6f', fuller), 'PX', math.ceil(fuller - now))
return 0`;

const giveBackScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local fullAt = tonumber(redis.call('GET', KEYS[1]) or '0') - math.min(ARGV[3], ARGV[1]) * ARGV[2] / ARGV[1]
if fullAt > now then
  redis.call('SET', KEYS[1], string.format('%.6f', fullAt), 'PX', math.ceil(fullAt - now))
else
  redis.call('DEL', KEYS[1])
end`;

/** Buckets that all relays take from. While Redis is away each relay has its own. */
export class RedisRateLimitStore implements RateLimitStore {
  readonly #redis: Connection;
  readonly #fallback: RateLimitStore;

  constructor(redis: Connection, fallback: RateLimitStore) {
    this.#redis = redis;
    this.#fallback = fallback;
  }

  async take(bucket: Bucket, amount = 1): Promise<number> {
    try {
      return Number(await this.#run(takeScript, bucket, amount));
    } catch {
      return this.#fallback.take(bucket, amount);
    }
  }

  async giveBack(bucket: Bucket, amount = 1): Promise<void> {
    try {
      await this.#run(giveBackScript, bucket, amount);
    } catch {
      await this.#fallback.giveBack(bucket, amount);
    }
  }

  #run(script: string, { key, count, periodMs }: Bucket, amount: number): Promise<unknown> {
    return this.#redis.eval(script, 1, keys.bucket(key), count, periodMs, amount);
  }
}
