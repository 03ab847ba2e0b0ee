import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { LocalOnlineUsers } from '../presence/onlineUsers.ts';
import { MemoryRateLimitStore } from '../rateLimits/store.ts';
import { Hub } from '../realtime/hub.ts';
import type { Secrets } from '../secrets.ts';
import type { Backplane } from './backplane.ts';

export interface BackplaneOptions {
  readonly config: Pick<Config, 'redis'>;
  readonly secrets: Secrets;
  readonly clock: () => number;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'warn' | 'info'>;
  readonly metrics: Pick<Metrics, 'redisReached'>;
}

/**
 * Redis if it is configured, otherwise this process.
 * @throws StartupError if Redis refuses this relay, or the relays there have other secrets
 */
export async function openBackplane(options: BackplaneOptions): Promise<Backplane> {
  const { config, clock, log } = options;
  const onListenerError = (error: unknown) => log.error({ err: error }, 'a listener failed');
  if (config.redis !== null) {
    // This is loaded only when it is used: its driver takes megabytes.
    const { openRedisBackplane } = await import('./redis.ts');
    return openRedisBackplane({ ...options, address: config.redis, onListenerError });
  }
  const hub = new Hub(onListenerError);
  return {
    hub,
    onlineUsers: new LocalOnlineUsers(hub),
    rateLimitStore: new MemoryRateLimitStore(clock),
    check: () => {},
    close: () => Promise.resolve(),
  };
}
