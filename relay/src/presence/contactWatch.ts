import { topics } from '../../contract/index.ts';
import type { Unsubscribe } from '../realtime/hub.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';

/** The socket that is told. */
export interface Watcher {
  /** The contacts have been read anew: these are online, and every status passed on before is void. */
  onOnline(userIds: readonly string[]): void;
  /** A contact came or went since then; JSON text of a PresenceChange. */
  onStatus(payload: string): void;
  onError(error: unknown): void;
}

type WatchServices = Pick<RealtimeServices, 'hub' | 'contacts' | 'onlineUsers'>;

/** Follows the status of a person's contacts, and of those alone, while the contacts themselves change. */
export class ContactWatch {
  readonly #services: WatchServices;
  readonly #userId: string;
  readonly #watcher: Watcher;
  readonly #stopListening: Unsubscribe[];
  #watched: Unsubscribe[] = [];
  #reading = 0;
  #stopped = false;

  constructor(services: WatchServices, userId: string, watcher: Watcher) {
    this.#services = services;
    this.#userId = userId;
    this.#watcher = watcher;
    const readAnew = () => {
      // Nobody is watched until the contacts have been read: one of them has just ceased to be one, perhaps.
      this.#unwatch();
      this.read().catch((error: unknown) => watcher.onError(error));
    };
    this.#stopListening = [
      services.hub.onSignal(userId, (signal) => {
        if (signal.type === 'contacts-changed') readAnew();
      }),
      services.hub.onInterruption(readAnew),
    ];
  }

  /** Reads the contacts and watches them. Of overlapping calls only the last takes effect: it has the newest answer. */
  async read(): Promise<void> {
    const { hub, contacts, onlineUsers } = this.#services;
    this.#reading += 1;
    const reading = this.#reading;
    const isPast = () => this.#stopped || reading !== this.#reading;
    const contactIds = await contacts.visibleIdsOf(this.#userId);
    if (isPast()) return;
    this.#unwatch();
    // A status that arrives before the list is either in it already, or passed on after it.
    let early: string[] | null = [];
    const onStatus = (payload: string) => {
      if (early === null) this.#watcher.onStatus(payload);
      else early.push(payload);
    };
    this.#watched = contactIds.map((contactId) => hub.subscribe(topics.userStatus(contactId), onStatus));
    await hub.subscribed();
    const online = await onlineUsers.among(contactIds);
    if (isPast()) return;
    this.#watcher.onOnline(online);
    const missed = early;
    early = null;
    for (const payload of missed) this.#watcher.onStatus(payload);
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stopListening) stop();
    this.#unwatch();
  }

  #unwatch(): void {
    for (const unsubscribe of this.#watched) unsubscribe();
    this.#watched = [];
  }
}
