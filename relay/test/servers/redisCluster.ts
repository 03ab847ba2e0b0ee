import { Redis } from 'ioredis';
import type { RedisAddress } from '../../src/backplane/redisLink.ts';
import { eventually } from '../eventually.ts';
import { freePort } from './freePort.ts';
import { type RedisServer, startRedis } from './redis.ts';

export interface RedisCluster {
  readonly address: RedisAddress;
  /** Ends the primary that serves a key's hash slot at once; resolves with the number of milliseconds until its replica does. */
  killPrimaryOf(key: string): Promise<number>;
  /** Gives the hash slot of a key, with what is in it, to another primary. */
  moveSlotOf(key: string): Promise<void>;
  /** Ends them, and removes everything. */
  remove(): Promise<void>;
}

interface Node {
  readonly server: RedisServer;
  readonly id: string;
  readonly port: number;
  /** At which the nodes talk to each other. */
  readonly busPort: number;
  readonly redis: Redis;
}

const slots = 16_384;

const settings = [
  '--cluster-enabled',
  'yes',
  // The others take a node that is silent for a second for dead.
  '--cluster-node-timeout',
  '1000',
  // A replica of whatever age takes its place.
  '--cluster-replica-validity-factor',
  '0',
  '--repl-diskless-sync-delay',
  '0',
];

/**
 * Six nodes of Redis Cluster on this machine, three primaries with a replica each.
 * @throws Error if no Redis is installed, or one before version 7, which has no sharded channels
 */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: 6 }, async (): Promise<Node> => {
      const busPort = await freePort();
      const server = await startRedis(settings.concat('--cluster-port', String(busPort)));
      const redis = new Redis(server.url, { retryStrategy: () => null });
      redis.on('error', () => {});
      return {
        server,
        redis,
        id: await redis.cluster('MYID'),
        port: Number(new URL(server.url).port),
        busPort,
      };
    }),
  );
  const isAlive = ({ redis }: Node) => redis.status === 'ready';
  const alive = () => nodes.filter(isAlive);
  const [primaries, replicas] = [nodes.slice(0, 3), nodes.slice(3)];
  const share = Math.ceil(slots / primaries.length);
  for (const [index, { redis }] of primaries.entries()) {
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', index * share, Math.min((index + 1) * share, slots) - 1);
  }
  for (const { port, busPort } of nodes.slice(1)) {
    await nodes[0]?.redis.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
  }
  for (const [index, { redis }] of replicas.entries()) {
    const primary = primaries[index]?.id ?? '';
    await eventually(async () => expectOk(await redis.call('CLUSTER', 'REPLICATE', primary)));
  }
  const isWhole = async ({ redis }: Node) => {
    const [info, known] = [await redis.cluster('INFO'), String(await redis.cluster('NODES'))];
    return (
      info.includes('cluster_state:ok') &&
      known.split('\n').filter((line) => /[ ,]slave /.test(line)).length >= 3
    );
  };
  await eventually(async () => {
    for (const node of nodes) if (!(await isWhole(node))) throw new Error('the cluster is not whole yet');
  });

  async function primaryOf(slot: number): Promise<Node | null> {
    for (const { redis } of alive()) {
      const ranges = (await redis.cluster('SLOTS')) as [
        number,
        number,
        ...[string, number, string, unknown[]][],
      ][];
      const range = ranges.find(([first, last]) => first <= slot && slot <= last);
      const found = alive().find(({ id }) => id === range?.[2]?.[2]);
      if (found !== undefined) return found;
    }
    return null;
  }
  const slotOf = async (key: string) => Number(await alive()[0]?.redis.cluster('KEYSLOT', key));

  return {
    // Any of them leads to the others.
    address: { urls: [primaries[0]?.server.url ?? '', replicas[1]?.server.url ?? ''], isCluster: true },
    async killPrimaryOf(key) {
      const slot = await slotOf(key);
      const killed = await primaryOf(slot);
      const begun = Date.now();
      await killed?.server.crash();
      killed?.redis.disconnect();
      await eventually(async () => {
        const now = await primaryOf(slot);
        if (now === null || now === killed) throw new Error('no replica has taken its place yet');
        if (!(await now.redis.cluster('INFO')).includes('cluster_state:ok')) throw new Error('not whole yet');
      });
      return Date.now() - begun;
    },
    async moveSlotOf(key) {
      const slot = await slotOf(key);
      const from = await primaryOf(slot);
      const [to] = await Promise.all(
        alive().map(async (node) =>
          (await node.redis.role())[0] === 'master' && node !== from ? node : null,
        ),
      ).then((found) => found.filter((node) => node !== null));
      if (from === null || to === undefined) throw new Error('nowhere to move it');
      await to.redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
      await from.redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
      const keys = (await from.redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 1000)) as string[];
      if (keys.length > 0) {
        await from.redis.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys);
      }
      for (const { redis } of [to, from]) await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
    },
    async remove() {
      for (const { redis, server } of nodes) {
        redis.disconnect();
        await server.remove();
      }
    },
  };
}

function expectOk(answer: unknown): void {
  if (answer !== 'OK') throw new Error(String(answer));
}
