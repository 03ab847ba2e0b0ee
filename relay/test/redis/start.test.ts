import { randomUUID } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { topics } from '../../contract/index.ts';
import type { Backplane } from '../../src/backplane/backplane.ts';
import { ClusterMembership } from '../../src/backplane/clusterMembership.ts';
import { keys } from '../../src/backplane/keys.ts';
import { openRedisBackplane } from '../../src/backplane/redis.ts';
import { RedisOnlineUsers } from '../../src/backplane/redisOnlineUsers.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../servers/freePort.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { createRelays, newSecrets, serverAt, silent } from './relays.ts';

let server: RedisServer | null = null;
const relays = createRelays(() => serverAt(server?.url ?? ''));
beforeEach(async () => {
  server ??= await startRedis();
  // After a crash it is empty.
  await server.crash();
});
afterEach(() => relays.closeAll());
afterAll(() => server?.remove());

const start = () => server?.start();
const open = (url: string) =>
  openRedisBackplane({
    ...silent,
    address: serverAt(url),
    secrets: newSecrets(),
    clock: Date.now,
    onListenerError: () => {},
  });
const tab = () => ({});
const isOnline = async (at: Backplane, user: string) => (await at.onlineUsers.among([user])).length === 1;

/** Resolves when a relay's clients hear what another one publishes. */
async function hears(listener: Backplane, speaker: Backplane): Promise<void> {
  const topic = `flush/${randomUUID()}`;
  const heard: string[] = [];
  const stop = listener.hub.subscribe(topic, (payload) => heard.push(payload));
  await eventually(() => {
    speaker.hub.publish(topic, 'x');
    expect(heard).not.toEqual([]);
  });
  stop();
}

describe('a relay that starts while Redis is away', () => {
  it('serves its own clients, and works with the others once it is there', async () => {
    const metrics = new Metrics();
    const [one, other] = [await relays.open(undefined, metrics), await relays.open()];
    const isUp = async () => (await metrics.registry.metrics()).includes('\nsinetti_redis_up 1\n');
    expect(await isUp()).toBe(false);
    const heard: string[] = [];
    one.hub.subscribe('a', (payload) => heard.push(payload));
    one.hub.publish('a', 'alone');
    expect(heard).toEqual(['alone']);
    expect(await one.rateLimitStore.take({ key: 'k', count: 1, periodMs: 60_000 })).toBe(0);
    expect(await one.rateLimitStore.take({ key: 'k', count: 1, periodMs: 60_000 })).toBeGreaterThan(0);
    await start();
    await hears(one, other);
    await hears(other, one);
    expect(await isUp()).toBe(true);
    await server?.crash();
    await eventually(async () => expect(await isUp()).toBe(false));
  }, 30_000);

  it('tells the others of everybody who had come to it before', async () => {
    const [early, gone, late] = [randomUUID(), randomUUID(), randomUUID()];
    const one = await relays.open();
    const former = tab();
    one.onlineUsers.add(early, tab());
    one.onlineUsers.add(gone, former);
    one.onlineUsers.remove(gone, former);
    await start();
    const other = await relays.open();
    const changes: string[] = [];
    other.hub.subscribe(topics.userStatus(late), (payload) => changes.push(payload));
    await eventually(async () => expect(await isOnline(other, early)).toBe(true));
    expect(await isOnline(other, gone)).toBe(false);
    one.onlineUsers.add(late, tab());
    await eventually(() => expect(changes).toEqual([JSON.stringify({ userId: late, online: true })]));
    // Nobody is kept under the name of a relay that never joined.
    await one.close();
    expect(await isOnline(other, early)).toBe(false);
  }, 30_000);

  it('has its clients look again once it has joined: of the others they had heard nothing', async () => {
    const one = await relays.open();
    let interruptions = 0;
    one.hub.onInterruption(() => {
      interruptions += 1;
    });
    await start();
    await eventually(() => expect(interruptions).toBeGreaterThan(0));
  }, 30_000);

  it('stays out, and is not ready, if the others turn out to have other secrets', async () => {
    await start();
    await relays.open();
    const port = await freePort();
    const stranger = await open(`redis://127.0.0.1:${port}`);
    expect(() => stranger.check()).not.toThrow();
    const redis = new URL(server?.url ?? '');
    const sockets = new Set<Socket>();
    const way = createServer((socket) => {
      const onwards = connect(Number(redis.port), redis.hostname);
      for (const one of [socket, onwards]) sockets.add(one.on('error', () => {}));
      socket.pipe(onwards).pipe(socket);
    }).listen(port, '127.0.0.1');
    await eventually(() => expect(() => stranger.check()).toThrow(/secrets differ from those of the relays/));
    await stranger.close();
    for (const socket of sockets) socket.destroy();
    way.close();
  }, 30_000);

  it('leaves nobody in Redis under no name', async () => {
    await start();
    const redis = new Redis(server?.url ?? '');
    const membership = new ClusterMembership({ redis, fingerprint: 'x', heartbeatMs: 100, expiryMs: 3000 });
    const onlineUsers = new RedisOnlineUsers(redis, 'PUBLISH', membership);
    const [user, socket] = [randomUUID(), tab()];
    onlineUsers.add(user, socket);
    onlineUsers.remove(user, socket);
    onlineUsers.add(user, socket);
    expect(await redis.keys('sinetti:*')).toEqual([]);
    await membership.join();
    await eventually(async () => expect(await redis.exists(keys.online(user))).toBe(1));
    await membership.leave();
    redis.disconnect();
  });

  it('ends though it never joined', async () => {
    const one = await relays.open();
    await expect(one.close()).resolves.toBeUndefined();
  });
});

describe('the start of a relay', () => {
  it('is refused with a sentence by a Redis that wants a password', async () => {
    await start();
    const url = server?.url ?? '';
    const redis = new Redis(url);
    await redis.config('SET', 'requirepass', 'of the operator');
    await expect(open(url)).rejects.toThrow(/^Redis at REDIS_URL can't be used: .*NOAUTH/);
    await expect(open(url.replace('redis://', 'redis://:wrong@'))).rejects.toThrow(
      /^Redis at REDIS_URL can't be used: .*WRONGPASS/,
    );
    redis.disconnect();
  });

  it('is not held up by a port that closes every connection', async () => {
    const port = await freePort();
    const closer = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    const relay = await open(`redis://127.0.0.1:${port}`);
    expect(() => relay.check()).not.toThrow();
    await relay.close();
    closer.close();
  });
});
