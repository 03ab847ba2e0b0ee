import { createHash, hkdfSync } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { Redis } from 'ioredis';
import { StartupError } from '../errors.ts';
import { MemoryRateLimitStore } from '../rateLimits/store.ts';
import type { Secrets } from '../secrets.ts';
import type { Backplane } from './backplane.ts';
import { ClusterMembership, type ClusterMembershipOptions } from './clusterMembership.ts';
import { RedisHub } from './redisHub.ts';
import { RedisOnlineUsers } from './redisOnlineUsers.ts';
import { RedisRateLimitStore } from './redisRateLimitStore.ts';

export interface RedisBackplaneOptions
  extends Partial<Pick<ClusterMembershipOptions, 'heartbeatMs' | 'expiryMs'>> {
  readonly url: string;
  readonly secrets: Secrets;
  readonly clock: () => number;
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  readonly onListenerError: (error: unknown) => void;
}

/**
 * Shares hub, presence and rate limits through Redis or Valkey. Nothing that has to last is kept there. While it is
 * away every relay goes on by itself; when it is back, what was missed is made good.
 * @throws StartupError if it can't be reached, or the relays there have other secrets
 */
export async function openRedisBackplane(options: RedisBackplaneOptions): Promise<Backplane> {
  const { url, secrets, clock, log, onListenerError } = options;
  const [commands, subscriber] = [connection(url), connection(url)];
  const disconnect = () => {
    commands.disconnect();
    subscriber.disconnect();
  };
  try {
    await Promise.all([connect(commands), connect(subscriber)]);
    const membership = new ClusterMembership({
      redis: commands,
      fingerprint: fingerprint(secrets),
      heartbeatMs: options.heartbeatMs ?? 4000,
      expiryMs: options.expiryMs ?? 12_000,
    });
    await membership.requireSameFingerprint();
    const hub = new RedisHub({ commands, subscriber, onListenerError });
    const onlineUsers = new RedisOnlineUsers(commands, membership);
    await hub.open();
    await membership.join();
    report(commands, log);
    return {
      hub,
      onlineUsers,
      rateLimitStore: new RedisRateLimitStore(commands, new MemoryRateLimitStore(clock)),
      async close() {
        await membership.leave();
        disconnect();
      },
    };
  } catch (error) {
    disconnect();
    throw error;
  }
}

function connection(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectionName: 'sinetti-relay',
    connectTimeout: 5000,
    commandTimeout: 5000,
    keepAlive: 10_000,
    // Commands missed while Redis was away are not replayed: the whole state is sent anew.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    enableAutoPipelining: false,
    // Relays that lose it together don't come back together.
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000) * (0.5 + Math.random() / 2),
  });
  // 'close' follows.
  redis.on('error', () => {});
  return redis;
}

async function connect(redis: Redis): Promise<void> {
  let reason = 'no answer';
  const note = (error: Error) => {
    reason = error.message;
  };
  redis.on('error', note);
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    if (error instanceof Error && reason === 'no answer') reason = error.message;
    throw new StartupError(`Redis at REDIS_URL can't be used: ${reason}.`);
  } finally {
    redis.off('error', note);
  }
}

function report(redis: Redis, log: RedisBackplaneOptions['log']): void {
  let isAway = false;
  redis.on('close', () => {
    if (!isAway) log.warn('Redis is away: this relay goes on by itself');
    isAway = true;
  });
  redis.on('ready', () => {
    isAway = false;
    log.info('Redis is back');
  });
}

/** A digest that tells two sets of secrets apart, and reveals nothing of either. */
function fingerprint({ jwtSecret, decoySecret }: Secrets): string {
  const key = hkdfSync('sha256', jwtSecret, decoySecret, 'sinetti relay secrets fingerprint', 32);
  return createHash('sha256').update(new Uint8Array(key)).digest('hex').slice(0, 16);
}
