import { createHash } from 'node:crypto';
import { topics } from '../../contract/index.ts';
import type { Session } from '../auth/session.ts';
import type { Hub, Unsubscribe } from '../realtime/hub.ts';

export interface EntityTagDependencies {
  readonly hub: Pick<Hub, 'hearsAll' | 'onInterruption' | 'onSignal' | 'subscribe' | 'subscribed'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Milliseconds after which an answer is read again though nothing was heard of it: the session is asked for anew by
 * then, and a change that nothing tells of shows.
 */
export const tagLifetime = 5 * 60 * 1000;
/** Milliseconds between two answers to one token from memory: who asks more often is counted as with any call. */
export const leastSpacing = 100;
/** Milliseconds after which a session that asks no more is forgotten. */
const patience = 60 * 1000;

interface Known {
  readonly etag: string;
  readonly readAt: number;
  answeredAt: number;
}

interface Poller {
  readonly session: Session;
  readonly stop: readonly Unsubscribe[];
  /** By the name of the call. */
  readonly known: Map<string, Known>;
  /** How often something was heard that may have changed an answer. */
  changes: number;
  askedAt: number;
}

/** An answer that is being read, and becomes known unless it changes meanwhile. */
export interface Reading {
  /** @param etag of what was read */
  done(etag: string): void;
}

/**
 * The entity tags (RFC 9110, section 8.8.3) of answers that clients ask for every ten seconds. A tag is the hash of an
 * answer, so it means the same at every relay and after a restart. While nothing is heard that may have changed the
 * answer, a request that has its tag is answered from memory: without the database, and without the session's row, whose
 * end is heard of as well.
 */
export class EntityTags {
  readonly #hub: EntityTagDependencies['hub'];
  readonly #clock: () => number;
  /** By token. */
  readonly #pollers = new Map<string, Poller>();
  #sweptAt = 0;

  constructor({ hub, clock }: EntityTagDependencies) {
    this.#hub = hub;
    this.#clock = clock;
    hub.onInterruption(() => {
      for (const token of this.#pollers.keys()) this.#forget(token);
    });
  }

  /** How many sessions are remembered. */
  get size(): number {
    return this.#pollers.size;
  }

  /**
   * The tag of a call's answer, if it is one of those in the header and known to be the present one.
   * @param ifNoneMatch the header of that name
   */
  match(token: string, call: string, ifNoneMatch: string | undefined): string | null {
    if (ifNoneMatch === undefined) return null;
    const poller = this.#pollers.get(token);
    const known = poller?.known.get(call);
    if (poller === undefined || known === undefined) return null;
    const now = this.#clock();
    const isPresent =
      this.#hub.hearsAll() && now - known.readAt < tagLifetime && now < poller.session.expiresAt;
    const isPolling = now - known.answeredAt >= leastSpacing;
    if (!isPresent || !isPolling || !matches(ifNoneMatch, known.etag)) return null;
    known.answeredAt = now;
    poller.askedAt = now;
    return known.etag;
  }

  /** Begins a reading, before which everything is heard that may change the answer. */
  async read(token: string, session: Session, call: string): Promise<Reading> {
    const now = this.#clock();
    this.#sweep(now);
    const poller = this.#pollers.get(token) ?? this.#listen(token, session);
    poller.askedAt = now;
    await this.#hub.subscribed();
    const { changes } = poller;
    return {
      done: (etag) => {
        if (poller.changes === changes) poller.known.set(call, { etag, readAt: now, answeredAt: now });
      },
    };
  }

  #listen(token: string, session: Session): Poller {
    const heard = () => forgetAnswers(poller);
    const stop = [
      this.#hub.subscribe(topics.userMessages(session.userId), heard),
      this.#hub.onSignal(session.userId, heard),
      this.#hub.onSignal(session.id, () => this.#forget(token)),
    ];
    const poller: Poller = { session, stop, known: new Map(), changes: 0, askedAt: 0 };
    this.#pollers.set(token, poller);
    return poller;
  }

  #forget(token: string): void {
    const poller = this.#pollers.get(token);
    if (poller === undefined) return;
    this.#pollers.delete(token);
    // A reading that is under way is none of a session that is heard of no more.
    forgetAnswers(poller);
    for (const stop of poller.stop) stop();
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < patience) return;
    this.#sweptAt = now;
    for (const [token, { askedAt }] of this.#pollers) {
      if (now - askedAt >= patience) this.#forget(token);
    }
  }
}

function forgetAnswers(poller: Poller): void {
  poller.changes += 1;
  poller.known.clear();
}

/** The strong tag of an answer. */
export function etagOf(answer: string): string {
  return `"${createHash('sha256').update(answer).digest('base64url').slice(0, 22)}"`;
}

/** Compares weakly (RFC 9110, section 13.1.2): a proxy that compresses makes tags weak. */
export function matches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
