import { topics } from '../../contract/index.ts';
import type { Unsubscribe } from '../realtime/hub.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';

export interface ContactWatchOptions {
  /** The contacts have been read anew: what was told of them before no longer counts. */
  readonly onContacts: (contactIds: readonly string[]) => void;
  /** A contact came or went; JSON text of a PresenceChange. */
  readonly onStatus: (payload: string) => void;
  readonly onError: (error: unknown) => void;
}

/** Follows the status of a person's contacts, and of those alone, while the contacts themselves change. */
export class ContactWatch {
  readonly #services: Pick<RealtimeServices, 'hub' | 'contacts'>;
  readonly #userId: string;
  readonly #options: ContactWatchOptions;
  readonly #stopListening: Unsubscribe;
  #watched: Unsubscribe[] = [];
  #reading = 0;
  #stopped = false;

  constructor(
    services: Pick<RealtimeServices, 'hub' | 'contacts'>,
    userId: string,
    options: ContactWatchOptions,
  ) {
    this.#services = services;
    this.#userId = userId;
    this.#options = options;
    this.#stopListening = services.hub.onSignal((signal) => {
      if (signal.type !== 'contacts-changed' || !signal.userIds.includes(userId)) return;
      // Nobody is watched until the contacts have been read: one of them has just ceased to be one, perhaps.
      this.#unwatch();
      this.read().catch(options.onError);
    });
  }

  /** Reads the contacts and watches them. Of overlapping calls only the last takes effect: it has the newest answer. */
  async read(): Promise<void> {
    this.#reading += 1;
    const reading = this.#reading;
    const contactIds = await this.#services.contacts.idsOf(this.#userId);
    if (this.#stopped || reading !== this.#reading) return;
    this.#unwatch();
    this.#watched = contactIds.map((contactId) => {
      return this.#services.hub.subscribe(topics.userStatus(contactId), this.#options.onStatus);
    });
    this.#options.onContacts(contactIds);
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening();
    this.#unwatch();
  }

  #unwatch(): void {
    for (const unsubscribe of this.#watched) unsubscribe();
    this.#watched = [];
  }
}
