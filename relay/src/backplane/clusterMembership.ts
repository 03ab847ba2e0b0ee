import { randomUUID } from 'node:crypto';
import { StartupError } from '../errors.ts';
import { keys } from './keys.ts';
import type { Connection } from './redisLink.ts';

export interface ClusterMembershipOptions {
  readonly redis: Connection;
  /** A digest of this relay's secrets: all relays must have the same. */
  readonly fingerprint: string;
  /** Milliseconds between two heartbeats of a relay. */
  readonly heartbeatMs: number;
  /** Milliseconds without a heartbeat after which a relay counts as dead. */
  readonly expiryMs: number;
}

export interface ClusterMembershipListener {
  /** This relay has a new id; everything stored under the former one is forgotten. */
  joined(): void;
  /** A relay is dead, or left. Takes back everything that it had stored. */
  gone(relayId: string): Promise<void>;
}

const milliseconds = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** A relay that counts as dead already may not go on: others may be taking back its entries. */
const heartbeatScript = `${milliseconds}
local expiry = redis.call('ZSCORE', KEYS[1], ARGV[1])
if ARGV[3] == 'join' or (expiry and tonumber(expiry) > now) then
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  return 1
end
return 0`;

/** The dead, each given to one relay at a time to clear up after. */
const deadScript = `${milliseconds}
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)`;

const aliveScript = `${milliseconds}
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')`;

/** Milliseconds that a relay has to clear up after a dead one before another begins again. */
const burialMs = 60_000;

/** Keeps the set of living relays. A killed one expires after a while, and another one clears up after it. */
export class ClusterMembership {
  readonly #options: ClusterMembershipOptions;
  #listener: ClusterMembershipListener | null = null;
  #relayId = '';
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();

  constructor(options: ClusterMembershipOptions) {
    this.#options = options;
    options.redis.on('ready', () => this.joinAnew());
  }

  /** Says everything again: commands sent while Redis, or a node of it, was away are lost, and it may have lost earlier ones. */
  joinAnew(): void {
    if (this.#timer !== null) this.#beating = this.#beating.then(() => this.#rejoin()).catch(() => {});
  }

  /** Empty until this relay has joined the others. */
  get relayId(): string {
    return this.#relayId;
  }

  listen(listener: ClusterMembershipListener): void {
    this.#listener = listener;
  }

  /** @throws StartupError if relays are there whose secrets differ from this one's */
  async requireSameFingerprint(): Promise<void> {
    const { redis, fingerprint } = this.#options;
    const alive = (await redis.eval(aliveScript, 1, keys.relays)) as string[];
    if (alive.every((relayId) => relayId.startsWith(`${fingerprint}:`))) return;
    throw new StartupError(
      "This relay's secrets differ from those of the relays at REDIS_URL. Copy their secrets.json into DATA_DIR.",
    );
  }

  async join(): Promise<void> {
    await this.#takeName();
    const { heartbeatMs } = this.#options;
    this.#timer = setInterval(() => {
      this.#beating = this.#beating.then(() => this.#beat()).catch(() => {});
    }, heartbeatMs).unref();
  }

  /** Says that this relay is gone, if Redis is there to hear it. */
  async leave(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#beating;
    await this.#bury(this.#relayId).catch(() => {});
  }

  async #takeName(): Promise<void> {
    const { fingerprint } = this.#options;
    this.#relayId = `${fingerprint}:${randomUUID()}`;
    await this.#say('join');
    this.#listener?.joined();
  }

  async #rejoin(): Promise<void> {
    const former = this.#relayId;
    // The new name first, so that nobody goes offline between.
    await this.#takeName();
    await this.#bury(former);
  }

  async #beat(): Promise<void> {
    const { redis } = this.#options;
    if ((await this.#say('stay')) === 0) await this.#rejoin();
    const dead = (await redis.eval(deadScript, 1, keys.relays)) as string[];
    for (const relayId of dead) {
      const isMine = await redis.set(keys.burial(relayId), this.#relayId, 'PX', burialMs, 'NX');
      if (isMine === 'OK') await this.#bury(relayId);
    }
  }

  async #say(what: 'join' | 'stay'): Promise<unknown> {
    const { redis, expiryMs } = this.#options;
    return redis.eval(heartbeatScript, 1, keys.relays, this.#relayId, expiryMs, what);
  }

  /** Can be broken off and begun again: the name goes last. */
  async #bury(relayId: string): Promise<void> {
    await this.#listener?.gone(relayId);
    await this.#options.redis.zrem(keys.relays, relayId);
  }
}
