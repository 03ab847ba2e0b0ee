import { type PresenceChange, topics } from '../../contract/index.ts';
import { type OnlineUsers, SocketCount } from '../presence/onlineUsers.ts';
import type { ClusterMembership } from './clusterMembership.ts';
import { channels, keys } from './keys.ts';
import { envelope } from './redisHub.ts';
import type { Channels, Connection } from './redisLink.ts';

/** Changing and telling are one step, so that of two changes to a person the later one is published last. */
const enterScript = `local isFirst = redis.call('EXISTS', KEYS[1]) == 0
redis.call('SADD', KEYS[1], ARGV[1])
if isFirst then redis.call(ARGV[2], KEYS[2], ARGV[3]) end`;

const leaveScript = `local wasHere = redis.call('SREM', KEYS[1], ARGV[1]) == 1
if wasHere and redis.call('EXISTS', KEYS[1]) == 0 then redis.call(ARGV[2], KEYS[2], ARGV[3]) end`;

/** The number of people that are taken offline together. */
const batchSize = 500;

/**
 * The people who are online at any relay. Each person has the set of relays they are online at; each relay
 * the set of its people, by which another one takes them offline when it is gone. While Redis is away
 * nobody's changes are seen.
 */
export class RedisOnlineUsers implements OnlineUsers {
  readonly #redis: Connection;
  readonly #publishing: Channels['publishing'];
  readonly #membership: ClusterMembership;
  readonly #sockets = new SocketCount();

  constructor(redis: Connection, publishing: Channels['publishing'], membership: ClusterMembership) {
    this.#redis = redis;
    this.#publishing = publishing;
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
      this.#tell(enterScript, userId, relayId, true),
    ]).catch(() => {});
  }

  #leave(userId: string, relayId: string): Promise<unknown> {
    return this.#tell(leaveScript, userId, relayId, false);
  }

  #tell(script: string, userId: string, relayId: string, online: boolean): Promise<unknown> {
    const change: PresenceChange = { userId, online };
    const channel = channels.topic(topics.userStatus(userId));
    const message = envelope(JSON.stringify(change));
    return this.#redis.eval(script, 2, keys.online(userId), channel, relayId, this.#publishing, message);
  }

  async #takeOffline(relayId: string): Promise<void> {
    for await (const batch of this.#redis.sscanStream(keys.relayUsers(relayId), { count: batchSize })) {
      await Promise.all((batch as string[]).map((userId) => this.#leave(userId, relayId)));
    }
    await this.#redis.del(keys.relayUsers(relayId));
  }
}
