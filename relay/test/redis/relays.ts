import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Backplane } from '../../src/backplane/backplane.ts';
import { ClusterMembership } from '../../src/backplane/clusterMembership.ts';
import { openRedisBackplane } from '../../src/backplane/redis.ts';
import type { RedisAddress } from '../../src/backplane/redisLink.ts';
import { RedisOnlineUsers } from '../../src/backplane/redisOnlineUsers.ts';
import type { Metrics } from '../../src/metrics/metrics.ts';
import type { Secrets } from '../../src/secrets.ts';

export const newSecrets = (): Secrets => ({ jwtSecret: randomBytes(32), decoySecret: randomBytes(32) });

/** A death is noticed within seconds, and a busy machine's pause is not taken for one. */
const hasty = { heartbeatMs: 100, expiryMs: 3000 };

const ignore = () => {};
export const silent = {
  log: { error: ignore, warn: ignore, info: ignore },
  metrics: { redisReached: ignore },
};

/** One server's address. */
export const serverAt = (url: string): RedisAddress => ({ urls: [url], isCluster: false });

/** Several relays, as far as Redis goes, on one server or cluster. */
export function createRelays(address: () => RedisAddress, secrets: Secrets = newSecrets()) {
  const opened: Backplane[] = [];
  const connections: Redis[] = [];
  return {
    failures: [] as unknown[],
    async open(
      of: Secrets = secrets,
      metrics: Pick<Metrics, 'redisReached'> = silent.metrics,
    ): Promise<Backplane> {
      const backplane = await openRedisBackplane({
        address: address(),
        secrets: of,
        clock: Date.now,
        log: silent.log,
        metrics,
        onListenerError: (error) => this.failures.push(error),
        ...hasty,
      });
      opened.push(backplane);
      return backplane;
    },
    /** A relay's presence alone, which can be killed: its connection ends, and it says nothing any more. */
    async openMortal() {
      const redis = new Redis(address().urls[0]);
      connections.push(redis);
      const { fingerprint = '' } =
        /^(?<fingerprint>[^:]+):/.exec((await redis.zrange('sinetti:relays', 0, 0))[0] ?? '')?.groups ?? {};
      const membership = new ClusterMembership({ redis, fingerprint, ...hasty });
      const onlineUsers = new RedisOnlineUsers(redis, 'PUBLISH', membership);
      await membership.join();
      return {
        onlineUsers,
        membership,
        /** Resolves when everything said before has been heard. */
        said: () => redis.ping(),
        kill: () => redis.disconnect(),
      };
    },
    async closeAll(): Promise<void> {
      for (const redis of connections.splice(0)) redis.disconnect();
      await Promise.all(opened.splice(0).map((backplane) => backplane.close()));
    },
  };
}
