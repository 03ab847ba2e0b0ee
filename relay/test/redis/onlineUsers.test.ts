import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { topics } from '../../contract/index.ts';
import type { Backplane } from '../../src/backplane/backplane.ts';
import { keys } from '../../src/backplane/keys.ts';
import { eventually } from '../eventually.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { createRelays, serverAt } from './relays.ts';

let server: RedisServer;
const relays = createRelays(() => serverAt(server.url));
let one: Backplane;
let other: Backplane;
let user: string;

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  [one, other] = [await relays.open(), await relays.open()];
  user = randomUUID();
});
afterEach(() => relays.closeAll());
afterAll(() => server.remove());

/** Records the changes of the person's status that a relay publishes from now on. */
async function watch({ hub }: Backplane): Promise<boolean[]> {
  const changes: boolean[] = [];
  hub.subscribe(topics.userStatus(user), (payload) => {
    changes.push((JSON.parse(payload) as { online: boolean }).online);
  });
  await hub.subscribed();
  return changes;
}

const tab = () => ({});
const isOnline = async (at: Backplane) => (await at.onlineUsers.among([user])).length === 1;

describe('who is online at several relays', () => {
  it('is published everywhere when the first socket of a person comes and the last one goes, at any relay', async () => {
    const [atOne, atOther] = [await watch(one), await watch(other)];
    const [first, second, third] = [tab(), tab(), tab()];
    one.onlineUsers.add(user, first);
    await eventually(() => expect([atOne, atOther]).toEqual([[true], [true]]));
    expect([await isOnline(one), await isOnline(other)]).toEqual([true, true]);
    other.onlineUsers.add(user, second);
    one.onlineUsers.add(user, third);
    one.onlineUsers.remove(user, first);
    one.onlineUsers.remove(user, third);
    expect([await isOnline(one), await isOnline(other)]).toEqual([true, true]);
    other.onlineUsers.remove(user, second);
    await eventually(() =>
      expect([atOne, atOther]).toEqual([
        [true, false],
        [true, false],
      ]),
    );
    expect([await isOnline(one), await isOnline(other)]).toEqual([false, false]);
  });

  it('answers in the order of the question, of those who are', async () => {
    const users = Array.from({ length: 20 }, () => randomUUID());
    for (const [index, userId] of users.entries()) {
      if (index % 2 === 0) (index % 4 === 0 ? one : other).onlineUsers.add(userId, tab());
    }
    await eventually(async () => {
      const even = users.filter((_userId, index) => index % 2 === 0);
      expect(await one.onlineUsers.among(users)).toEqual(even);
      expect(await other.onlineUsers.among(users)).toEqual(even);
    });
    expect(await one.onlineUsers.among([])).toEqual([]);
  });

  it('leaves nothing behind when the relays have closed', async () => {
    one.onlineUsers.add(user, tab());
    await eventually(async () => expect(await isOnline(other)).toBe(true));
    await relays.closeAll();
    const redis = new Redis(server.url);
    expect(await redis.keys('*')).toEqual([]);
    redis.disconnect();
  });

  it('takes those offline who were online at a relay that is killed, and at no other', async () => {
    const mortal = await relays.openMortal();
    const elsewhereToo = randomUUID();
    mortal.onlineUsers.add(user, tab());
    mortal.onlineUsers.add(elsewhereToo, tab());
    await mortal.said();
    const changes = await watch(one);
    other.onlineUsers.add(elsewhereToo, tab());
    expect(await one.onlineUsers.among([user, elsewhereToo])).toEqual([user, elsewhereToo]);
    mortal.kill();
    await eventually(() => expect(changes).toEqual([false]));
    expect(await one.onlineUsers.among([user, elsewhereToo])).toEqual([elsewhereToo]);
  });

  it('keeps those online whose relay comes back from the dead', async () => {
    const mortal = await relays.openMortal();
    const name = mortal.membership.relayId;
    mortal.onlineUsers.add(user, tab());
    await mortal.said();
    // Makes its last heartbeat look too old, as if it had slept.
    const redis = new Redis(server.url);
    await redis.zadd('sinetti:relays', 1, name);
    await eventually(async () => {
      expect(await redis.zrange('sinetti:relays', 0, -1)).not.toContain(name);
      expect(mortal.membership.relayId).not.toBe(name);
      expect(await redis.smembers(keys.online(user))).toEqual([mortal.membership.relayId]);
    });
    redis.disconnect();
    expect(await isOnline(one)).toBe(true);
  });

  it('is known again after Redis has lost everything', async () => {
    one.onlineUsers.add(user, tab());
    await eventually(async () => expect(await isOnline(other)).toBe(true));
    await server.crash();
    const gone = randomUUID();
    other.onlineUsers.add(gone, tab());
    expect(await one.onlineUsers.among([user, gone])).toEqual([user]);
    await server.start();
    await eventually(async () => {
      expect(await one.onlineUsers.among([user, gone])).toEqual([user, gone]);
      expect(await other.onlineUsers.among([user, gone])).toEqual([user, gone]);
    });
  }, 30_000);
});
