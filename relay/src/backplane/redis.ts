import { createHash, hkdfSync } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { Redis } from 'ioredis';
import { errorCode } from '../errorCode.ts';
import { StartupError } from '../errors.ts';
import type { Metrics } from '../metrics/metrics.ts';
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
  readonly log: Pick<FastifyBaseLogger, 'error' | 'warn' | 'info'>;
  readonly metrics: Pick<Metrics, 'redisReached'>;
  readonly onListenerError: (error: unknown) => void;
}

/**
 * Shares hub, presence and rate limits through Redis or Valkey. Nothing that has to last is kept there. While it is
 * away, at the start or later, every relay goes on by itself; when it is back, what was missed is made good.
 * @throws StartupError if it refuses this relay, or the relays there have other secrets
 */
export async function openRedisBackplane(options: RedisBackplaneOptions): Promise<Backplane> {
  const { url, secrets, clock, log, metrics, onListenerError } = options;
  const [commands, subscriber] = [connection(url), connection(url)];
  const disconnect = () => {
    commands.disconnect();
    subscriber.disconnect();
  };
  const membership = new ClusterMembership({
    redis: commands,
    fingerprint: fingerprint(secrets),
    heartbeatMs: options.heartbeatMs ?? 4000,
    expiryMs: options.expiryMs ?? 12_000,
  });
  const hub = new RedisHub({ commands, subscriber, onListenerError });
  const onlineUsers = new RedisOnlineUsers(commands, membership);
  const join = async () => {
    await membership.requireSameFingerprint();
    if (subscriber.status !== 'ready') await connect(subscriber);
    await hub.open();
    await membership.join();
    metrics.redisReached(true);
    report(commands, log, metrics);
  };
  let refusal: unknown = null;
  const joinLater = () => {
    const tryToJoin = async () => {
      try {
        await join();
      } catch (error) {
        // Gone again, and so it will be ready again.
        if (mayPass(error)) return;
        refusal = error;
        disconnect();
        log.error({ err: error }, 'this relay stays out of Redis, and is not ready');
        return;
      }
      commands.off('ready', onReady);
      log.info('Redis is there: this relay works with the others');
    };
    const onReady = () => void tryToJoin();
    commands.on('ready', onReady);
  };
  try {
    await connect(commands);
    await join();
  } catch (error) {
    if (!mayPass(error)) {
      disconnect();
      throw error;
    }
    // Ends its attempts until the other relays are known to be this one's.
    subscriber.disconnect();
    joinLater();
    log.warn({ err: error }, 'Redis is away: this relay begins by itself');
  }
  return {
    hub,
    onlineUsers,
    rateLimitStore: new RedisRateLimitStore(commands, new MemoryRateLimitStore(clock)),
    check() {
      if (refusal !== null) throw refusal;
    },
    async close() {
      await membership.leave();
      disconnect();
    },
  };
}

/** Redis can't be reached now, and may be later. */
class RedisAway extends StartupError {}

const isAnswer = (error: unknown) => error instanceof Error && error.name === 'ReplyError';

/** Returns whether the failure is of the connection, and not a refusal or a defect. */
const mayPass = (error: unknown) =>
  error instanceof RedisAway || !(error instanceof StartupError || isAnswer(error));

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

/** The network's codes, and none where the connection is closed before Redis has said a word. */
const awayCodes: ReadonlySet<string | null> = new Set([
  null,
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** @throws StartupError, of which RedisAway says that it may succeed later */
async function connect(redis: Redis): Promise<void> {
  let failure: Error | null = null;
  const note = (error: Error) => {
    failure = error;
  };
  redis.on('error', note);
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    const cause = failure ?? error;
    const reason = cause instanceof Error ? cause.message : 'no answer';
    const Failure = !isAnswer(cause) && awayCodes.has(errorCode(cause)) ? RedisAway : StartupError;
    throw new Failure(`Redis at REDIS_URL can't be used: ${reason}.`);
  } finally {
    redis.off('error', note);
  }
}

function report(
  redis: Redis,
  log: RedisBackplaneOptions['log'],
  metrics: RedisBackplaneOptions['metrics'],
): void {
  let isAway = false;
  redis.on('close', () => {
    if (!isAway) log.warn('Redis is away: this relay goes on by itself');
    isAway = true;
    metrics.redisReached(false);
  });
  redis.on('ready', () => {
    isAway = false;
    metrics.redisReached(true);
    log.info('Redis is back');
  });
}

/** A digest that tells two sets of secrets apart, and reveals nothing of either. */
function fingerprint({ jwtSecret, decoySecret }: Secrets): string {
  const key = hkdfSync('sha256', jwtSecret, decoySecret, 'sinetti relay secrets fingerprint', 32);
  return createHash('sha256').update(new Uint8Array(key)).digest('hex').slice(0, 16);
}
