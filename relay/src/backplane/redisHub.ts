import { randomUUID } from 'node:crypto';
import { Hub, Signal, type TopicListener, type Unsubscribe } from '../realtime/hub.ts';
import { channels } from './keys.ts';
import type { Channels } from './redisLink.ts';

export interface RedisHubOptions {
  readonly redis: Channels;
  readonly onListenerError: (error: unknown) => void;
}

/** Stands for no relay: what is said with it is for all of them. */
const toAll = '-';

/** Milliseconds until Redis is tried again after it has taken no message. */
const tellAgainMs = 500;

/** The message of a channel: its origin, so that a relay ignores its own, and its payload. */
export const envelope = (payload: string, origin: string = toAll) => `${origin} ${payload}`;

function openEnvelope(message: string): { origin: string; payload: string } {
  const end = message.indexOf(' ');
  return { origin: message.slice(0, end), payload: message.slice(end + 1) };
}

/**
 * A hub of several relays. One's own listeners hear at once, as from the in-process hub; those of other relays through
 * Redis, in the order in which each relay publishes. Redis may lose messages while a connection is down, so everybody
 * who might have missed one is interrupted when it is up again.
 */
export class RedisHub extends Hub {
  readonly #id = randomUUID();
  readonly #redis: Channels;
  /** Topics that Redis has been asked for. */
  readonly #remote = new Set<string>();
  /** Topics whose first listener has come or last one gone since Redis was asked. */
  readonly #changed = new Set<string>();
  #asking: Promise<void> = Promise.resolve();
  #isAskingSoon = false;
  /** Set while Redis has lost something that the others have yet to be told of. */
  #telling: NodeJS.Timeout | null = null;

  constructor({ redis, onListenerError }: RedisHubOptions) {
    super(onListenerError);
    this.#redis = redis;
    redis.onMessage((channel, message) => this.#receive(channel, message));
    redis.onBack(() => void this.#resume());
  }

  /** Begins to hear the other relays. */
  async open(): Promise<void> {
    await this.#redis.subscribe([channels.signals, channels.interruptions]);
  }

  /** Tells the others nothing any more. */
  close(): void {
    if (this.#telling !== null) clearTimeout(this.#telling);
  }

  override publish(topic: string, payload: string): void {
    super.publish(topic, payload);
    this.#send(channels.topic(topic), envelope(payload, this.#id));
  }

  override signal(signal: Signal): void {
    super.signal(signal);
    this.#send(channels.signals, envelope(JSON.stringify(signal), this.#id));
  }

  override subscribe(topic: string, listener: TopicListener): Unsubscribe {
    const unsubscribe = super.subscribe(topic, listener);
    this.#note(topic);
    return () => {
      unsubscribe();
      this.#note(topic);
    };
  }

  override subscribed(): Promise<void> {
    return this.#asking;
  }

  override hearsAll(): boolean {
    return this.#redis.isListening();
  }

  #send(channel: string, message: string): void {
    this.#redis.publish(channel, message).catch(() => this.#tellOfLoss());
  }

  /** Has everybody look again, once Redis takes messages: a cluster may lose those of one node, and never be away. */
  #tellOfLoss(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = null;
      this.#send(channels.interruptions, envelope(''));
    }, tellAgainMs).unref();
  }

  /** Redis is asked once for all that changes at a time. */
  #note(topic: string): void {
    this.#changed.add(topic);
    if (this.#isAskingSoon) return;
    this.#isAskingSoon = true;
    const before = this.#asking;
    this.#asking = Promise.resolve()
      .then(() => this.#ask())
      .then(() => before);
  }

  /** Settles without an error: when the connection is up again, everything is asked for anew. */
  async #ask(): Promise<void> {
    this.#isAskingSoon = false;
    const [wanted, unwanted]: [string[], string[]] = [[], []];
    for (const topic of this.#changed) {
      if (this.hasListeners(topic) === this.#remote.has(topic)) continue;
      (this.hasListeners(topic) ? wanted : unwanted).push(channels.topic(topic));
      if (!this.#remote.delete(topic)) this.#remote.add(topic);
    }
    this.#changed.clear();
    if (unwanted.length > 0) this.#redis.unsubscribe(unwanted).catch(() => {});
    if (wanted.length > 0) await this.#redis.subscribe(wanted).catch(() => {});
  }

  /** The connection had been down: what was said meanwhile has been missed. */
  async #resume(): Promise<void> {
    try {
      await this.open();
      await this.#redis.subscribe([...this.#remote].map((topic) => channels.topic(topic)));
    } catch {
      // Down again, and so it will be ready again.
      return;
    }
    this.interrupt();
  }

  #receive(channel: string, message: string): void {
    const { origin, payload } = openEnvelope(message);
    if (origin === this.#id) return;
    if (channel === channels.interruptions) return this.interrupt();
    const topic = channels.topicOf(channel);
    if (topic !== null) return super.publish(topic, payload);
    const signal = parseSignal(payload);
    // A newer relay's: whatever it ends must not go on here.
    if (signal === null) this.interrupt();
    else super.signal(signal);
  }
}

function parseSignal(payload: string): Signal | null {
  try {
    return Signal.parse(JSON.parse(payload));
  } catch {
    return null;
  }
}
