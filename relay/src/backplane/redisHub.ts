import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Hub, Signal, type TopicListener, type Unsubscribe } from '../realtime/hub.ts';
import { channels } from './keys.ts';

export interface RedisHubOptions {
  readonly commands: Redis;
  /** A connection of its own: one that subscribes can do nothing else. */
  readonly subscriber: Redis;
  readonly onListenerError: (error: unknown) => void;
}

/** Stands for no relay: what is said with it is for all of them. */
const toAll = '-';

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
  readonly #commands: Redis;
  readonly #subscriber: Redis;
  /** Topics that Redis has been asked for. */
  readonly #remote = new Set<string>();
  /** Topics whose first listener has come or last one gone since Redis was asked. */
  readonly #changed = new Set<string>();
  #asking: Promise<void> = Promise.resolve();
  #isAskingSoon = false;
  #hasLostMessages = false;

  constructor({ commands, subscriber, onListenerError }: RedisHubOptions) {
    super(onListenerError);
    this.#commands = commands;
    this.#subscriber = subscriber;
    subscriber.on('message', (channel: string, message: string) => this.#receive(channel, message));
    subscriber.on('ready', () => void this.#resume());
    commands.on('ready', () => {
      if (!this.#hasLostMessages) return;
      this.#hasLostMessages = false;
      this.#send(channels.interruptions, envelope(''));
    });
  }

  /** Begins to hear the other relays. */
  async open(): Promise<void> {
    await this.#subscriber.subscribe(channels.signals, channels.interruptions);
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
    return this.#subscriber.status === 'ready';
  }

  #send(channel: string, message: string): void {
    this.#commands.publish(channel, message).catch(() => {
      this.#hasLostMessages = true;
    });
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
    if (unwanted.length > 0) this.#subscriber.unsubscribe(...unwanted).catch(() => {});
    if (wanted.length > 0) await this.#subscriber.subscribe(...wanted).catch(() => {});
  }

  /** The connection had been down: what was said meanwhile has been missed. */
  async #resume(): Promise<void> {
    const topics = [...this.#remote].map((topic) => channels.topic(topic));
    try {
      await this.open();
      // A thousand topics fit well into one command.
      for (let start = 0; start < topics.length; start += 1000) {
        await this.#subscriber.subscribe(...topics.slice(start, start + 1000));
      }
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
    if (channel !== channels.signals) {
      return super.publish(channel.slice(channels.topicPrefix.length), payload);
    }
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
