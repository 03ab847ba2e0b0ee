import { ApiError } from '../errors.ts';
import { ipv6NetworkOf } from '../http/clientAddress.ts';
import { addressesPerNetwork, type QuotaName, type Quotas } from './quotas.ts';
import type { Bucket, RateLimitStore } from './store.ts';

/**
 * A quota to take from, the subject that takes (a user id, an address prefix, or both), and the amount, 1 by
 * default.
 */
export type Share = readonly [quota: QuotaName, subject: string, amount?: number];

export interface RateLimiterOptions {
  readonly store: RateLimitStore;
  readonly quotas: Quotas;
  /** Called at every refusal, with the address if it is the address's quota. */
  readonly onRefused: (quota: QuotaName, address: string | null) => void;
}

/**
 * Limits what one account and one address may do, whichever door they come through: REST and MQTT take from the same
 * buckets. Our own rather than a plugin of the HTTP server, which would see neither MQTT nor failed log-ins.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /**
   * Takes each share, in order. The narrowest comes first: whoever has used up their own quota then takes
   * nothing from the people they share an address with.
   * @throws ApiError rate-limited with the seconds to wait
   */
  async take(...shares: readonly Share[]): Promise<void> {
    for (const share of shares) {
      const waitMs = await this.wait(share);
      if (waitMs > 0) throw rateLimited(waitMs);
    }
  }

  /** Takes a share, if there is as much. @returns the milliseconds until there is; 0 if it was taken */
  async wait([name, subject, amount]: Share): Promise<number> {
    const { store } = this.#options;
    const taken: Bucket[] = [];
    for (const bucket of this.#buckets(name, subject)) {
      const waitMs = await store.take(bucket, amount);
      if (waitMs === 0) {
        taken.push(bucket);
        continue;
      }
      // Neighbours who have used up their /48 must not empty the bucket of this address, too.
      for (const other of taken) await store.giveBack(other, amount);
      this.#options.onRefused(name, name.endsWith('.address') ? subject : null);
      return waitMs;
    }
    return 0;
  }

  /** Puts back what `take` took of shares of one, for what turned out not to count. */
  async giveBack(...shares: readonly Share[]): Promise<void> {
    for (const [name, subject, amount] of shares) {
      for (const bucket of this.#buckets(name, subject)) await this.#options.store.giveBack(bucket, amount);
    }
  }

  /** Does what shares were taken for, and gives them back where it is refused: that doesn't count. */
  async orGiveBack<T>(taken: readonly Share[], task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      await this.giveBack(...taken);
      throw error;
    }
  }

  /** The bucket of a subject, and for an IPv6 address that of all its neighbours in a /48. */
  #buckets(name: QuotaName, subject: string): Bucket[] {
    const quota = this.#options.quotas[name];
    if (quota === null) return [];
    const bucket = { ...quota, key: `${name} ${subject}` };
    const network = name.endsWith('.address') ? ipv6NetworkOf(subject) : null;
    if (network === null) return [bucket];
    return [bucket, { ...quota, count: addressesPerNetwork * quota.count, key: `${name} ${network}` }];
  }
}

function rateLimited(waitMs: number): ApiError {
  return new ApiError('rate-limited', 'Too many requests. Please wait a moment and try again.', {
    retryAfter: Math.ceil(waitMs / 1000),
  });
}
