import type { Redis } from 'ioredis';
import { type PresenceChange, topics } from '../../contract/index.ts';
import { type OnlineUsers, SocketCount } from '../presence/onlineUsers.ts';
import type { ClusterMembership } from './clusterMembership.ts';
import { channels, keys } from './keys.ts';
import { envelope } from './redisHub.ts';

/** Changing and telling are one step, so that of two changes to a person the later one is published last. */
const enterScript = `local isFirst = redis.call('EXISTS', KEYS[1]) == 0
redis.call('SADD', KEYS[1], ARGV[1])
if isFirst then redis.call('PUBLISH', ARGV[2], ARGV[3]) end`;

const leaveScript = `local wasHere = redis.call('SREM', KEYS[1], ARGV[1]) == 1
if wasHere and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('PUBLISH', ARGV[2], ARGV[3]) end`;

/** The number of people that are taken offline together. */
const batchSize = 500;

/**
 * The people who are online at any relay. Each person has the set of relays they are online at; each relay
 * the set of its people, by which another one takes them offline when it is gone. While Redis is away
 * nobody's changes are seen.
 */
export class RedisOnlineUsers implements OnlineUsers {
  readonly #redis: Redis;
  readonly #membership: ClusterMembership;
  readonly #sockets = new SocketCount();

  constructor(redis: Redis, membership: ClusterMembership) {
    this.#redis = redis;
    this.#membership = membership;
    membership.listen({
      joined: () => {
        for (const userId of this.#sockets.userIds) this.#enter(userId);
      },
      gone: (relayId) => this.#takeOffline(relayId),
    });
  }

  add(userId: string, socket: object): void {
    if (this.#sockets.add(userId, socket)) this.#enter(userId);
  }

  remove(userId: string, socket: object): void {
    if (!this.#sockets.remove(userId, socket)) return;
    const { relayId } = this.#membership;
    if (relayId === '') return;
    Promise.all([this.#leave(userId, relayId), this.#redis.srem(keys.relayUsers(relayId), userId)]).catch(
      () => {},
    );
  }

  async among(userIds: readonly string[]): Promise<string[]> {
    const online = await Promise.all(userIds.map((userId) => this.#isOnline(userId)));
    return userIds.filter((_userId, index) => online[index]);
  }

  async #isOnline(userId: string): Promise<boolean> {
    if (this.#sockets.has(userId)) return true;
    return (await this.#redis.exists(keys.online(userId)).catch(() => 0)) === 1;
  }

  /** A change that Redis misses is made again under a new relay id when it is back. */
  #enter(userId: string): void {
    const { relayId } = this.#membership;
    // A relay that has yet to join tells of everybody when it does.
    if (relayId === '') return;
    Promise.all([
      // The relay's set first, so that whoever clears up after it misses nobody.
      this.#redis.sadd(keys.relayUsers(relayId), userId),
      this.#redis.eval(enterScript, 1, keys.online(userId), relayId, ...announcement(userId, true)),
    ]).catch(() => {});
  }

  #leave(userId: string, relayId: string): Promise<unknown> {
    return this.#redis.eval(leaveScript, 1, keys.online(userId), relayId, ...announcement(userId, false));
  }

  async #takeOffline(relayId: string): Promise<void> {
    for await (const batch of this.#redis.sscanStream(keys.relayUsers(relayId), { count: batchSize })) {
      await Promise.all((batch as string[]).map((userId) => this.#leave(userId, relayId)));
    }
    await this.#redis.del(keys.relayUsers(relayId));
  }
}

function announcement(userId: string, online: boolean): [channel: string, message: string] {
  const change: PresenceChange = { userId, online };
  return [channels.topic(topics.userStatus(userId)), envelope(JSON.stringify(change))];
}
