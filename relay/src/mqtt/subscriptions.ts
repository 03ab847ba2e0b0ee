import { limits, topics } from '../../contract/index.ts';
import type { Unsubscribe } from '../realtime/hub.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { maySubscribe } from './acl.ts';
import { ReasonCode } from './reasonCodes.ts';
import { filterProblem } from './topics.ts';

export type Deliver = (topic: string, payload: string, qos: 0 | 1) => void;

/** The subscriptions of one connection, each as long as its person may have it. */
export class Subscriptions {
  readonly #services: Pick<RealtimeServices, 'hub' | 'contacts'>;
  readonly #userId: string;
  readonly #deliver: Deliver;
  readonly #active = new Map<string, Unsubscribe>();
  readonly #stopListening: Unsubscribe;
  #contactChanges = 0;
  #cleared = false;

  constructor(services: Pick<RealtimeServices, 'hub' | 'contacts'>, userId: string, deliver: Deliver) {
    this.#services = services;
    this.#userId = userId;
    this.#deliver = deliver;
    this.#stopListening = services.hub.onSignal((signal) => {
      if (signal.type !== 'contacts-changed' || !signal.userIds.includes(userId)) return;
      // Ended on any change: a person who was just added can't have been subscribed to.
      this.#contactChanges += 1;
      for (const changed of signal.userIds) this.unsubscribe(topics.userStatus(changed));
    });
  }

  /**
   * No Local and the retain options change nothing here: one can't subscribe to a topic one may publish to, and
   * nothing is retained.
   * @returns what SUBACK says of it: the granted QoS, or a reason code of 0x80 and above
   */
  async subscribe(filter: string, requestedQos: 0 | 1 | 2): Promise<number> {
    const problem = filterProblem(filter);
    if (problem !== null) return problem;
    if (!this.#active.has(filter) && this.#active.size >= limits.mqttExtraSubscriptions) {
      return ReasonCode.QuotaExceeded;
    }
    let allowed: boolean;
    let changes: number;
    do {
      // Asked again if a contact changed meanwhile: the answer may be older than the change.
      changes = this.#contactChanges;
      allowed = await maySubscribe(this.#services.contacts, this.#userId, filter);
    } while (changes !== this.#contactChanges);
    if (!allowed || this.#cleared) return ReasonCode.NotAuthorized;
    const qos = requestedQos === 0 ? 0 : 1;
    // A repeated subscription replaces the former [MQTT-3.8.4-3].
    this.unsubscribe(filter);
    const unsubscribe = this.#services.hub.subscribe(filter, (payload) =>
      this.#deliver(filter, payload, qos),
    );
    this.#active.set(filter, unsubscribe);
    return qos;
  }

  /** @returns whether there was one */
  unsubscribe(filter: string): boolean {
    this.#active.get(filter)?.();
    return this.#active.delete(filter);
  }

  /** Ends them all, and grants none from now on. */
  clear(): void {
    this.#cleared = true;
    this.#stopListening();
    for (const filter of this.#active.keys()) this.unsubscribe(filter);
  }
}
