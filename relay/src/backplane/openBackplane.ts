import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import { LocalOnlineUsers } from '../presence/onlineUsers.ts';
import { MemoryRateLimitStore } from '../rateLimits/store.ts';
import { Hub } from '../realtime/hub.ts';
import type { Secrets } from '../secrets.ts';
import type { Backplane } from './backplane.ts';

export interface BackplaneOptions {
  readonly config: Pick<Config, 'redisUrl'>;
  readonly secrets: Secrets;
  readonly clock: () => number;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'warn' | 'info'>;
}

/**
 * Redis if it is configured, otherwise this process.
 * @throws StartupError if Redis can't be reached, or the relays there have other secrets
 */
export async function openBackplane({ config, secrets, clock, log }: BackplaneOptions): Promise<Backplane> {
  const onListenerError = (error: unknown) => log.error({ err: error }, 'a listener failed');
  if (config.redisUrl !== null) {
    // This is loaded only when it is used: its driver takes megabytes.
    const { openRedisBackplane } = await import('./redis.ts');
    return openRedisBackplane({ url: config.redisUrl, secrets, clock, log, onListenerError });
  }
  const hub = new Hub(onListenerError);
  return {
    hub,
    onlineUsers: new LocalOnlineUsers(hub),
    rateLimitStore: new MemoryRateLimitStore(clock),
    close: () => Promise.resolve(),
  };
}
