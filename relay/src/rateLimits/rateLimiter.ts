import { ApiError } from '../errors.ts';
import type { QuotaName, Quotas } from './quotas.ts';
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
    for (const [name, subject, amount] of shares) {
      const bucket = this.#bucket(name, subject);
      const waitMs = bucket === null ? 0 : await this.#options.store.take(bucket, amount);
      if (waitMs > 0) {
        this.#options.onRefused(name, name.endsWith('.address') ? subject : null);
        throw rateLimited(waitMs);
      }
    }
  }

  /** Puts back what `take` took of shares of one, for what turned out not to count. */
  async giveBack(...shares: readonly Share[]): Promise<void> {
    for (const [name, subject] of shares) {
      const bucket = this.#bucket(name, subject);
      if (bucket !== null) await this.#options.store.giveBack(bucket);
    }
  }

  #bucket(name: QuotaName, subject: string): Bucket | null {
    const quota = this.#options.quotas[name];
    return quota === null ? null : { ...quota, key: `${name} ${subject}` };
  }
}

function rateLimited(waitMs: number): ApiError {
  return new ApiError('rate-limited', 'Too many requests. Please wait a moment and try again.', {
    retryAfter: Math.ceil(waitMs / 1000),
  });
}
