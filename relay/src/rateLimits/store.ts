import { type Quota, takeFrom } from './bucket.ts';

/** One subject's bucket of one quota. */
export interface Bucket extends Quota {
  /** Names the quota and its subject. Holds no name or email of a person: a digest stands for them. */
  readonly key: string;
}

/**
 * Keeps buckets, in this process or in a place that several relays share. Both methods settle without
 * throwing. A shared store that can't be reached falls back to one of this process, because neither letting
 * everybody pass nor refusing everybody would do.
 */
export interface RateLimitStore {
  /**
   * Takes from a bucket. Of calls that run at the same time no more succeed than the bucket holds.
   * @param amount 1 unless given; what is more than the bucket can ever hold takes all of it
   * @returns milliseconds until it has as much; 0 if it was taken
   */
  take(bucket: Bucket, amount?: number): Promise<number>;
  /** Puts back what was taken and turned out not to count, 1 unless given. A bucket never holds more than its count. */
  giveBack(bucket: Bucket, amount?: number): Promise<void>;
}

/** About 20 MB at most. */
const defaultMaxBuckets = 100_000;

/** Buckets of this process. A full bucket is forgotten; of too many, the one that was used longest ago is. */
export class MemoryRateLimitStore implements RateLimitStore {
  /** The time at which each bucket is full, by its key; least recently used first. */
  readonly #fullAt = new Map<string, number>();
  readonly #clock: () => number;
  readonly #maxBuckets: number;

  constructor(clock: () => number, maxBuckets = defaultMaxBuckets) {
    this.#clock = clock;
    this.#maxBuckets = maxBuckets;
  }

  /** Buckets that are not full, and some that became full since the last time anything was taken. */
  get size(): number {
    return this.#fullAt.size;
  }

  take(bucket: Bucket, amount = 1): Promise<number> {
    const now = this.#clock();
    const { fullAt, waitMs } = takeFrom(this.#fullAt.get(bucket.key) ?? 0, bucket, now, amount);
    this.#put(bucket.key, fullAt, now);
    return Promise.resolve(waitMs);
  }

  giveBack({ key, count, periodMs }: Bucket, amount = 1): Promise<void> {
    const fullAt = this.#fullAt.get(key);
    const given = (Math.min(amount, count) * periodMs) / count;
    if (fullAt !== undefined) this.#put(key, fullAt - given, this.#clock());
    return Promise.resolve();
  }

  #put(key: string, fullAt: number, now: number): void {
    // Set anew, so that it becomes the most recent one.
    this.#fullAt.delete(key);
    if (fullAt > now) this.#fullAt.set(key, fullAt);
    this.#forgetFull(now);
  }

  /** Looks at the two oldest at a time: every call adds one at most, so the map can't outgrow the cleaning. */
  #forgetFull(now: number): void {
    let looked = 0;
    for (const [key, fullAt] of this.#fullAt) {
      const isTooMany = this.#fullAt.size > this.#maxBuckets;
      if (fullAt <= now || isTooMany) this.#fullAt.delete(key);
      looked += 1;
      if (looked >= 2) return;
    }
  }
}
