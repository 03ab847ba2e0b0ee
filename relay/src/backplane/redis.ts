import { createHash, hkdfSync } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { errorCode } from '../errorCode.ts';
import { StartupError } from '../errors.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { MemoryRateLimitStore } from '../rateLimits/store.ts';
import type { Secrets } from '../secrets.ts';
import type { Backplane } from './backplane.ts';
import { ClusterMembership, type ClusterMembershipOptions } from './clusterMembership.ts';
import { RedisHub } from './redisHub.ts';
import { type Connection, channelsOf, connectionTo, openConnection, type RedisAddress } from './redisLink.ts';
import { RedisOnlineUsers } from './redisOnlineUsers.ts';
import { RedisRateLimitStore } from './redisRateLimitStore.ts';

export interface RedisBackplaneOptions
  extends Partial<Pick<ClusterMembershipOptions, 'heartbeatMs' | 'expiryMs'>> {
  readonly address: RedisAddress;
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
  const { address, secrets, clock, log, metrics, onListenerError } = options;
  const [commands, subscriber] = [connectionTo(address), connectionTo(address)];
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
  const channels = channelsOf(commands, subscriber);
  const hub = new RedisHub({ redis: channels, onListenerError });
  const onlineUsers = new RedisOnlineUsers(commands, channels.publishing, membership);
  // A node that has gone takes what was last stored at it along.
  if (address.isCluster) channels.onBack(() => membership.joinAnew());
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
      hub.close();
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

/** The last answer of a node, where none could be used. */
function saidByNode(error: Error | null): unknown {
  return error !== null && 'lastNodeError' in error ? error.lastNodeError : null;
}

/** @throws StartupError, of which RedisAway says that it may succeed later */
async function connect(redis: Connection): Promise<void> {
  let failure: Error | null = null;
  const note = (error: Error) => {
    failure = error;
  };
  redis.on('error', note);
  try {
    await openConnection(redis);
  } catch (error) {
    const cause = saidByNode(failure) ?? failure ?? error;
    const reason = cause instanceof Error ? cause.message : 'no answer';
    const setting = redis.isCluster ? 'REDIS_CLUSTER_NODES' : 'REDIS_URL';
    const Failure = !isAnswer(cause) && awayCodes.has(errorCode(cause)) ? RedisAway : StartupError;
    throw new Failure(`Redis at ${setting} can't be used: ${reason}.`);
  } finally {
    redis.off('error', note);
  }
}

function report(
  redis: Connection,
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
