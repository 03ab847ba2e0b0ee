import * as z from 'zod/mini';
import { Id, type IncomingEvent, type PresenceChange, topics } from '../../contract/index.ts';
import { sessionEndCodes } from '../auth/session.ts';

export type Unsubscribe = () => void;
export type TopicListener = (payload: string) => void;

/** Facts that end or change what a live connection may do. A schema, because they also travel between relays. */
export const Signal = z.discriminatedUnion('type', [
  /** The session has ended, for the reason that its connections are told as they close now. */
  z.readonly(z.object({ type: z.literal('session-ended'), sessionId: Id, code: z.enum(sessionEndCodes) })),
  /** Two people became contacts or stopped being contacts. */
  z.readonly(z.object({ type: z.literal('contacts-changed'), userIds: z.readonly(z.tuple([Id, Id])) })),
  /** These people's notifications are other ones, of which no event tells. */
  z.readonly(z.object({ type: z.literal('notifications-changed'), userIds: z.readonly(z.array(Id)) })),
  /** These people left the group, or it was deleted: they hear nothing of it from now on. */
  z.readonly(z.object({ type: z.literal('members-removed'), groupId: Id, userIds: z.readonly(z.array(Id)) })),
]);
export type Signal = z.infer<typeof Signal>;
export type SignalListener = (signal: Signal) => void;

/**
 * In-process publish/subscribe between the use cases that change something and the sockets that tell of it.
 * Delivery is synchronous and in the order of publishing. A listener that throws is reported and skipped: what was
 * published is already committed, so neither the publisher nor the other listeners may suffer from it.
 */
export class Hub {
  readonly #topics = new Map<string, Set<TopicListener>>();
  /** By the session or person that they listen for. */
  readonly #signalListeners = new Map<string, Set<SignalListener>>();
  readonly #interruptionListeners = new Set<() => void>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError;
  }

  /**
   * @param topic one of the contract's `topics`
   * @param payload JSON text, serialised once however many listen
   */
  publish(topic: string, payload: string): void {
    const listeners = this.#topics.get(topic);
    if (listeners !== undefined) this.#deliver(listeners, payload);
  }

  /** Publishes to every device of these people. */
  publishToUsers(userIds: readonly string[], event: IncomingEvent): void {
    const payload = JSON.stringify(event);
    for (const userId of userIds) this.publish(topics.userMessages(userId), payload);
  }

  /** Publishes to whoever has the group's chat open. */
  publishToGroup(groupId: string, event: IncomingEvent): void {
    this.publish(topics.groupMessages(groupId), JSON.stringify(event));
  }

  /** Publishes to whoever watches a person's status. */
  publishStatus(change: PresenceChange): void {
    this.publish(topics.userStatus(change.userId), JSON.stringify(change));
  }

  /**
   * Calls the listener with each payload published from now on, except by a relay that doesn't know of the
   * subscription yet: see `subscribed`. Calling the returned function more than once is harmless.
   */
  subscribe(topic: string, listener: TopicListener): Unsubscribe {
    return listen(this.#topics, topic, listener);
  }

  /** Resolves when everything subscribed to before is heard from every relay. Never rejects. */
  subscribed(): Promise<void> {
    return Promise.resolve();
  }

  /** Returns whether nothing of other relays is being missed now. */
  hearsAll(): boolean {
    return true;
  }

  hasListeners(topic: string): boolean {
    return this.#topics.has(topic);
  }

  signal(signal: Signal): void {
    for (const id of concerned(signal)) {
      const listeners = this.#signalListeners.get(id);
      if (listeners !== undefined) this.#deliver(listeners, signal);
    }
  }

  /**
   * Calls the listener with the signals about one session or person, and no other: a signal that asked every socket of a
   * relay would hold all of them up.
   * @param id of the session, or of the person
   */
  onSignal(id: string, listener: SignalListener): Unsubscribe {
    return listen(this.#signalListeners, id, listener);
  }

  /** Calls back when messages or signals of other relays may have been missed: look at the database again. */
  onInterruption(listener: () => void): Unsubscribe {
    this.#interruptionListeners.add(listener);
    return () => {
      this.#interruptionListeners.delete(listener);
    };
  }

  protected interrupt(): void {
    this.#deliver(this.#interruptionListeners, undefined);
  }

  #deliver<T>(listeners: ReadonlySet<(value: T) => void>, value: T): void {
    // A copy: whoever subscribes meanwhile hears what is published after that.
    for (const listener of Array.from(listeners)) {
      try {
        listener(value);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }
}

/** The ids of the sessions or people that a signal is about. */
function concerned(signal: Signal): readonly string[] {
  return signal.type === 'session-ended' ? [signal.sessionId] : signal.userIds;
}

function listen<T>(all: Map<string, Set<T>>, key: string, listener: T): Unsubscribe {
  const listeners = all.get(key) ?? new Set();
  all.set(key, listeners);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && all.get(key) === listeners) all.delete(key);
  };
}
