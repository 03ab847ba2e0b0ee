import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '../../contract/index.ts';
import type { Backplane } from '../../src/backplane/backplane.ts';
import { channels, keys } from '../../src/backplane/keys.ts';
import { openRedisBackplane } from '../../src/backplane/redis.ts';
import { channelsOf, connectionTo, openConnection } from '../../src/backplane/redisLink.ts';
import { eventually } from '../eventually.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { type RedisCluster, startRedisCluster } from '../servers/redisCluster.ts';
import { createRelays, newSecrets, silent } from './relays.ts';

let cluster: RedisCluster;
const relays = createRelays(() => cluster.address);
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterEach(() => relays.closeAll());
afterAll(() => cluster.remove());

const openTwo = async () => [await relays.open(), await relays.open()] as const;
const tab = () => ({});
const isOnline = async (at: Backplane, user: string) => (await at.onlineUsers.among([user])).length === 1;

/** Records what a relay's clients get on some topics from now on. */
async function listenTo({ hub }: Backplane, names: readonly string[]) {
  const heard = new Map(names.map((name) => [name, [] as string[]]));
  for (const name of names) hub.subscribe(name, (payload) => heard.get(name)?.push(payload));
  await hub.subscribed();
  return heard;
}

/** Resolves once a relay hears another one on each of the topics. */
async function hears(listener: Backplane, speaker: Backplane, names: readonly string[]): Promise<void> {
  const heard = await listenTo(listener, names);
  const mark = randomUUID();
  await eventually(() => {
    for (const name of names) {
      if (!heard.get(name)?.includes(mark)) speaker.hub.publish(name, mark);
    }
    for (const name of names) expect(heard.get(name)).toContain(mark);
  });
}

/** So many that each of the three primaries carries some of them. */
const manyTopics = () => Array.from({ length: 30 }, () => `users/${randomUUID()}/messages`);

describe('several relays on a Redis Cluster', () => {
  it('hear each other on every topic, in the order of publishing, by channels of the slots', async () => {
    const [one, other] = await openTwo();
    const names = manyTopics();
    const heard = await listenTo(other, names);
    const said = Array.from({ length: 20 }, (_none, index) => `${index} "ä"`);
    for (const payload of said) for (const name of names) one.hub.publish(name, payload);
    await eventually(() => expect([...heard.values()]).toEqual(names.map(() => said)));
    const signals: unknown[] = [];
    const signal = { type: 'session-ended', sessionId: randomUUID(), code: 'password-changed' } as const;
    other.hub.onSignal(signal.sessionId, (got) => signals.push(got));
    one.hub.signal(signal);
    await eventually(() => expect(signals).toEqual([signal]));
    expect(relays.failures).toEqual([]);
  });

  it('tell who is online, and take from the same buckets', async () => {
    const [one, other] = await openTwo();
    const user = randomUUID();
    const changes: string[] = [];
    other.hub.subscribe(topics.userStatus(user), (payload) => changes.push(payload));
    await other.hub.subscribed();
    const socket = tab();
    one.onlineUsers.add(user, socket);
    await eventually(() => expect(changes.map((change) => JSON.parse(change).online)).toEqual([true]));
    expect(await isOnline(other, user)).toBe(true);
    one.onlineUsers.remove(user, socket);
    await eventually(() => expect(changes.map((change) => JSON.parse(change).online)).toEqual([true, false]));
    expect(await isOnline(other, user)).toBe(false);
    const bucket = { key: randomUUID(), count: 2, periodMs: 60_000 };
    expect([await one.rateLimitStore.take(bucket), await other.rateLimitStore.take(bucket)]).toEqual([0, 0]);
    expect(await one.rateLimitStore.take(bucket)).toBeGreaterThan(0);
  });

  it('go on when a primary is killed and its replica takes its place: what was missed is looked for, who was online is', async () => {
    const [one, other] = await openTwo();
    const names = manyTopics();
    const users = Array.from({ length: 10 }, () => randomUUID());
    for (const user of users) one.onlineUsers.add(user, tab());
    await hears(other, one, names);
    let interruptions = 0;
    other.hub.onInterruption(() => {
      interruptions += 1;
    });
    const [first = ''] = names;
    const killed = cluster.killPrimaryOf(channels.topic(first));
    // Deliveries at the same relay wait for nobody.
    const here = await listenTo(one, [first]);
    one.hub.publish(first, 'while it is away');
    expect(here.get(first)).toEqual(['while it is away']);
    await killed;
    await eventually(() => expect(interruptions).toBeGreaterThan(0));
    await hears(other, one, names);
    await hears(one, other, names);
    await eventually(() => expect([one.hub.hearsAll(), other.hub.hearsAll()]).toEqual([true, true]));
    await eventually(async () => {
      expect(await other.onlineUsers.among(users)).toEqual(users);
    });
  });

  it('note a channel once, however often it is asked for anew while slots move', async () => {
    const [commands, subscriber] = [connectionTo(cluster.address), connectionTo(cluster.address)];
    await Promise.all([openConnection(commands), openConnection(subscriber)]);
    try {
      const link = channelsOf(commands, subscriber);
      const heard: string[] = [];
      link.onMessage((_channel, message) => heard.push(message));
      const name = channels.topic(randomUUID());
      for (let asked = 0; asked < 5; asked += 1) await link.subscribe([name]);
      // The driver asks for all that it has noted, after each change.
      const { shardedSubscribers } = subscriber as unknown as {
        shardedSubscribers: { channels: ReadonlyMap<number, readonly string[]> };
      };
      expect([...shardedSubscribers.channels.values()].flat()).toEqual([name]);
      await link.publish(name, 'once');
      await eventually(() => expect(heard).toEqual(['once']));
      await link.unsubscribe([name]);
      expect([...shardedSubscribers.channels.values()].flat()).toEqual([]);
    } finally {
      commands.disconnect();
      subscriber.disconnect();
    }
  });

  it('go on when a slot moves to another node', async () => {
    const [one, other] = await openTwo();
    const user = randomUUID();
    one.onlineUsers.add(user, tab());
    const name = topics.userStatus(user);
    await hears(other, one, [name]);
    await eventually(async () => expect(await isOnline(other, user)).toBe(true));
    await cluster.moveSlotOf(keys.online(user));
    await hears(other, one, [name]);
    await eventually(async () => expect(await isOnline(other, user)).toBe(true));
  });
});

describe('a relay that is given nodes of a cluster', () => {
  let alone: RedisServer;
  beforeAll(async () => {
    alone = await startRedis();
  });
  afterAll(() => alone.remove());

  it('refuses to start where there is a server without a cluster', async () => {
    const address = { urls: [alone.url], isCluster: true } as const;
    const opened = openRedisBackplane({
      ...silent,
      address,
      secrets: newSecrets(),
      clock: Date.now,
      onListenerError: () => {},
    });
    await expect(opened).rejects.toThrow(
      /^Redis at REDIS_CLUSTER_NODES can't be used: .*cluster support disabled/,
    );
  });
});
