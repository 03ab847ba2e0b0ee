import { limits, topics } from '../../contract/index.ts';
import type { Unsubscribe } from '../realtime/hub.ts';
import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { maySubscribe } from './acl.ts';
import type { Delivery, DeliveryKind } from './delivery.ts';
import { ReasonCode } from './reasonCodes.ts';
import { filterProblem, parseTopic } from './topics.ts';

/** The subscriptions of one connection, each as long as its person may have it. */
export class Subscriptions {
  readonly #services: Pick<RealtimeServices, 'hub' | 'contacts' | 'groups'>;
  readonly #userId: string;
  readonly #delivery: Pick<Delivery, 'deliver'>;
  readonly #active = new Map<string, Unsubscribe>();
  readonly #stopListening: Unsubscribe;
  /** Counts the changes of the person's contacts or groups. */
  #changes = 0;
  #cleared = false;

  constructor(
    services: Pick<RealtimeServices, 'hub' | 'contacts' | 'groups'>,
    userId: string,
    delivery: Pick<Delivery, 'deliver'>,
  ) {
    this.#services = services;
    this.#userId = userId;
    this.#delivery = delivery;
    this.#stopListening = services.hub.onSignal(userId, (signal) => {
      if (signal.type === 'session-ended' || signal.type === 'notifications-changed') return;
      this.#changes += 1;
      if (signal.type === 'members-removed') this.unsubscribe(topics.groupMessages(signal.groupId));
      // Ended on any change: a person who was just added can't have been subscribed to.
      else for (const changed of signal.userIds) this.unsubscribe(topics.userStatus(changed));
    });
  }

  /**
   * No Local and the retain options change nothing here: what is delivered on a group's topic is an entry of its log,
   * which is for the sender's own devices too, and nothing is retained.
   * @returns what SUBACK says of it: the granted QoS, or a reason code of 0x80 and above
   */
  async subscribe(filter: string, requestedQos: 0 | 1 | 2): Promise<number> {
    const problem = filterProblem(filter);
    if (problem !== null) return problem;
    if (!this.#hasRoomFor(filter)) return ReasonCode.QuotaExceeded;
    let allowed: boolean;
    let isHeard: boolean;
    let changes: number;
    do {
      // Asked again if a contact or group changed meanwhile: the answer may be older than the change.
      changes = this.#changes;
      allowed = await maySubscribe(this.#services, this.#userId, filter);
      isHeard = allowed && !(await this.#isOfBlocked(filter));
    } while (changes !== this.#changes);
    if (!allowed || this.#cleared) return ReasonCode.NotAuthorized;
    const isFleeting = parseTopic(filter)?.kind === 'typing';
    const qos = requestedQos === 0 || isFleeting ? 0 : 1;
    // A repeated subscription replaces the former [MQTT-3.8.4-3].
    this.unsubscribe(filter);
    this.#active.set(filter, isHeard ? this.#listen(filter, isFleeting ? 'fleeting' : qos) : () => undefined);
    await this.#services.hub.subscribed();
    return qos;
  }

  #listen(filter: string, kind: DeliveryKind): Unsubscribe {
    return this.#services.hub.subscribe(filter, (payload) => this.#delivery.deliver(filter, payload, kind));
  }

  /** Returns whether the topic is the status of somebody where a block stands between: granted as before, and silent. */
  async #isOfBlocked(filter: string): Promise<boolean> {
    const topic = parseTopic(filter);
    return topic?.kind === 'status' && this.#services.contacts.isBlocked(this.#userId, topic.userId);
  }

  /** @returns whether there was one */
  unsubscribe(filter: string): boolean {
    this.#active.get(filter)?.();
    return this.#active.delete(filter);
  }

  /** Groups don't count: nobody can be subscribed to more of them than they have. */
  #hasRoomFor(filter: string): boolean {
    if (this.#active.has(filter) || isGroupTopic(filter)) return true;
    const counted = [...this.#active.keys()].filter((active) => !isGroupTopic(active));
    return counted.length < limits.mqttExtraSubscriptions;
  }

  /** Ends them all, and grants none from now on. */
  clear(): void {
    this.#cleared = true;
    this.#stopListening();
    for (const filter of this.#active.keys()) this.unsubscribe(filter);
  }
}

const isGroupTopic = (filter: string) => parseTopic(filter)?.kind === 'group';
