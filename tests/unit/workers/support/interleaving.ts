/**
 * A group played in any order: each step of each device is one draw of a seeded generator, so that what is
 * under way (a commit made and not submitted, an answer that got lost, a tab that is gone) meets everything
 * that the others do.
 */

import type {
  CommitSubmission,
  ConversationState,
  PreparedMessage,
} from '../../../../workers/api/cryptoApi.ts';
import { CryptoApiError } from '../../../../workers/api/errors.ts';
import { seededRandom } from './browser.ts';
import { createWorld, type TestDevice, textOf } from './device.ts';
import { type MemoryRelay, NotAMember, StaleEpoch } from './relay.ts';

/** What came up in a play: a test that never met these would prove nothing. */
export type Event =
  | 'a commit came too late'
  | 'a message came too late'
  | 'an answer was lost'
  | 'a tab was lost'
  | 'somebody left'
  | 'somebody came back'
  | 'a device joined from outside'
  | 'a removal went first';

type Flight = CommitSubmission | Extract<PreparedMessage, { kind: 'message' }>;

/** People who have signed up, with a device or two each; they play one group after the other. */
export class Troupe {
  readonly relay: MemoryRelay;
  readonly people: readonly (readonly TestDevice[])[];

  private constructor(relay: MemoryRelay, people: readonly (readonly TestDevice[])[]) {
    this.relay = relay;
    this.people = people;
  }

  /** Every third person has a second device. */
  static async gather(seed: string, count: number): Promise<Troupe> {
    const world = createWorld(seed);
    const people: TestDevice[][] = [];
    for (let person = 0; person < count; person++) {
      const userId = `${person.toString(16).padStart(8, '0')}-0000-4000-8000-000000000001`;
      const devices = [await world.device(userId)];
      if (person % 3 === 1) devices.push(await world.device(userId));
      people.push(devices);
    }
    return new Troupe(world.relay, people);
  }
}

class Actor {
  device: TestDevice;
  readonly flights: Flight[] = [];

  constructor(device: TestDevice) {
    this.device = device;
  }

  get userId(): string {
    return this.device.userId;
  }
}

export class Play {
  readonly #relay: MemoryRelay;
  readonly #conversationId: string;
  readonly #random: (length: number) => Uint8Array;
  readonly #people: readonly (readonly TestDevice[])[];
  /** Devices that take part; a second one comes later, from outside. */
  readonly #actors: Actor[];
  /** What was written, and neither left behind by its writer nor refused. */
  readonly #written = new Map<string, string>();
  readonly events = new Set<Event>();
  readonly #left = new Set<string>();
  #count = 0;

  constructor(troupe: Troupe, people: number, seed: string) {
    this.#relay = troupe.relay;
    this.#random = seededRandom(seed);
    this.#conversationId = `group:${troupe.relay.uuid()}`;
    this.#people = troupe.people.slice(0, people);
    this.#actors = this.#people.flatMap(([first]) => (first === undefined ? [] : [new Actor(first)]));
  }

  /** Sets up, plays, and lets everything come to rest. @returns what is wrong: nothing, when all is well */
  async run(steps: number): Promise<string[]> {
    const [creator] = this.#actors;
    if (creator === undefined) throw new Error('nobody');
    await creator.device.createGroup(this.#conversationId, 'Play');
    await this.#add(creator, this.#actors.slice(1, 1 + Math.ceil(this.#people.length / 2)));
    for (const flight of creator.flights.splice(0)) await this.#deliver(creator, flight);
    for (let step = 0; step < steps; step++) await this.#act(this.#pick(this.#actors));
    await this.#settle();
    const wrong = await this.#check();
    for (const { device } of this.#actors) await device.api.forgetConversation(this.#conversationId);
    return wrong;
  }

  #below(limit: number): number {
    const [high = 0, low = 0] = this.#random(2);
    return (high * 256 + low) % limit;
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[this.#below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  #isMember({ userId }: Actor): boolean {
    return this.#relay.isIn(this.#conversationId, userId);
  }

  async #act(actor: Actor): Promise<void> {
    const draw = this.#below(100);
    if (!this.#isMember(actor)) await this.#pull(actor, 1000);
    else if (draw < 16) await this.#write(actor);
    else if (draw < 32) await this.#prepare(actor);
    else if (draw < 54) await this.#deliverAny(actor);
    else if (draw < 70) await this.#pull(actor, 1 + this.#below(6));
    else if (draw < 75) await actor.device.refreshGroup(this.#conversationId);
    else if (draw < 79) await this.#reopen(actor);
    else if (draw < 81) await this.#next(actor);
    else if (draw < 83) this.#bringSecondDevice(actor);
    else if (draw < 91) await this.#leave(actor);
    else await this.#addSomebody();
  }

  async #addSomebody(): Promise<void> {
    const [creator] = this.#actors;
    const absent = this.#actors.filter((other) => !this.#isMember(other));
    if (creator === undefined || absent.length === 0) return;
    if (this.#below(2) > 0) await this.#pull(creator, 1000);
    await this.#add(creator, [this.#pick(absent)]);
  }

  async #write(actor: Actor): Promise<void> {
    const text = `${actor.userId.slice(0, 8)} says ${this.#count++}`;
    this.#written.set(await actor.device.queue(this.#conversationId, text), text);
  }

  async #outbox({ device }: Actor): Promise<string[]> {
    const views = await device.api.outbox();
    return views
      .filter(({ conversationId }) => conversationId === this.#conversationId)
      .map(({ messageId }) => messageId);
  }

  async #prepare(actor: Actor): Promise<void> {
    const waiting = await this.#outbox(actor);
    if (waiting.length === 0) return;
    const prepared = await actor.device.api.prepareMessage(this.#pick(waiting));
    const { group } = await actor.device.api.conversation(this.#conversationId);
    if (group !== null && group.leavingIds.length > 0) {
      if (prepared.kind === 'message') throw new Error('says something to who has left');
      if (prepared.kind === 'commit') this.events.add('a removal went first');
    }
    if (prepared.kind === 'message') actor.flights.push(prepared);
    if (prepared.kind === 'commit') actor.flights.push(prepared.submission);
  }

  async #next(actor: Actor): Promise<void> {
    const submission = await actor.device.api.nextCommit(this.#conversationId);
    if (submission !== null) actor.flights.push(submission);
  }

  /** In whatever order; some arrive twice, and of some the answer is lost. */
  async #deliverAny(actor: Actor): Promise<void> {
    if (actor.flights.length === 0) return;
    const flight = this.#pick(actor.flights);
    if (this.#below(8) > 0) actor.flights.splice(actor.flights.indexOf(flight), 1);
    await this.#deliver(actor, flight);
  }

  async #deliver({ device }: Actor, flight: Flight): Promise<void> {
    try {
      if ('commit' in flight) {
        this.#relay.submit(device, flight);
        return;
      }
      const { seq, timestamp } = this.#relay.send(device, flight);
      if (this.#below(2) > 0) await device.api.messageAccepted(flight.messageId, { seq, timestamp });
      else this.events.add('an answer was lost');
    } catch (error) {
      // Late news of a message that the device gave up with the group is no news.
      const gone = error instanceof CryptoApiError && error.code === 'not-found';
      if (!(error instanceof StaleEpoch || error instanceof NotAMember || gone)) throw error;
      if (error instanceof StaleEpoch) {
        this.events.add('commit' in flight ? 'a commit came too late' : 'a message came too late');
      }
    }
  }

  async #pull(actor: Actor, limit: number): Promise<ConversationState | undefined> {
    const id = this.#conversationId;
    const { api, deviceId } = actor.device;
    if (!this.#isMember(actor)) return this.#forget(actor);
    const mailbox = this.#relay.mailbox(deviceId);
    for (const item of mailbox.filter(({ conversationId }) => conversationId === id)) {
      await api.joinByWelcome(item);
      if (this.#left.has(actor.userId)) this.events.add('somebody came back');
      mailbox.splice(mailbox.indexOf(item), 1);
    }
    const before = await api.conversation(id);
    const entries = this.#relay.entries(id, before.lastSeq);
    const page = before.status === 'outside' ? entries : entries.slice(0, limit);
    const { state } = await api.processEntries(id, page);
    if (before.status === 'outside' && state.status === 'joined')
      this.events.add('a device joined from outside');
    if (state.status === 'forked') throw new Error(`${actor.userId} forked: ${state.refusal}`);
    if (state.status === 'outside' && !mailbox.some(({ conversationId }) => conversationId === id)) {
      const waiting = await api.nextCommit(id);
      const { epoch, groupInfo } = this.#relay.log(id);
      const isStale = waiting === null || waiting.epoch < epoch;
      actor.flights.push(
        isStale ? await api.joinByExternalCommit({ conversationId: id, epoch, groupInfo }) : waiting,
      );
    }
    return state;
  }

  /** The tab is gone, and with it half of what it had under way. */
  async #reopen(actor: Actor): Promise<void> {
    this.events.add('a tab was lost');
    actor.device = await actor.device.openTab();
    const kept = actor.flights.filter(() => this.#below(2) > 0);
    actor.flights.splice(0, actor.flights.length, ...kept);
  }

  #bringSecondDevice({ userId }: Actor): void {
    const playing = new Set(this.#actors.map(({ device }) => device.deviceId));
    const devices = this.#people.flat().filter((device) => device.userId === userId);
    const second = devices.find(({ deviceId }) => !playing.has(deviceId));
    if (second !== undefined) this.#actors.push(new Actor(second));
  }

  async #add(creator: Actor, people: readonly Actor[]): Promise<void> {
    await creator.device.refreshGroup(this.#conversationId);
    const playing = new Set(this.#actors.map(({ device }) => device.deviceId));
    const userIds = people.map(({ userId }) => userId);
    const keyPackages = this.#relay.claim(userIds, '').filter(({ deviceId }) => playing.has(deviceId));
    try {
      const { api } = creator.device;
      creator.flights.push(await api.addMembers({ conversationId: this.#conversationId, keyPackages }));
    } catch (error) {
      // Another commit is under way, or these were in the tree all along as far as this device knows.
      if (!(error instanceof CryptoApiError && ['pending', 'usage'].includes(error.code))) throw error;
    }
  }

  async #leave(actor: Actor): Promise<void> {
    if (actor.userId === this.#relay.group(this.#conversationId).creatorId) return;
    const statement = await this.#statementOf(actor);
    if (statement === null) return;
    this.events.add('somebody left');
    this.#left.add(actor.userId);
    this.#relay.leave(this.#conversationId, actor.userId, statement);
    await this.#forget(actor);
  }

  /** Null for a device that is outside, or that others are faster than. */
  async #statementOf(actor: Actor): Promise<string | null> {
    const { api } = actor.device;
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        return await api.leaveStatement(this.#conversationId);
      } catch (error) {
        if (error instanceof CryptoApiError && error.code === 'usage') return null;
        if (!(error instanceof CryptoApiError && error.code === 'pending')) throw error;
      }
      const waiting = await api.nextCommit(this.#conversationId);
      if (waiting !== null) await this.#deliver(actor, waiting);
      await this.#pull(actor, 1000);
    }
    return null;
  }

  async #forget(actor: Actor): Promise<undefined> {
    const logged = new Set(this.#relay.entries(this.#conversationId).map(({ id }) => id));
    for (const messageId of await this.#outbox(actor)) {
      if (!logged.has(messageId)) this.#written.delete(messageId);
    }
    await actor.device.api.forgetConversation(this.#conversationId);
    actor.flights.length = 0;
  }

  /** Everybody is online until nothing is left to do. */
  async #settle(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      let isQuiet = true;
      for (const actor of this.#actors) {
        const state = await this.#pull(actor, 1000);
        if (state === undefined) continue;
        await actor.device.refreshGroup(this.#conversationId);
        await this.#next(actor);
        for (const messageId of await this.#outbox(actor)) {
          isQuiet = false;
          const prepared = await actor.device.api.prepareMessage(messageId);
          if (prepared.kind === 'message') actor.flights.push(prepared);
          if (prepared.kind === 'commit') actor.flights.push(prepared.submission);
        }
        const { lastSeq, status } = await actor.device.api.conversation(this.#conversationId);
        if (status !== 'joined' || actor.flights.length > 0) isQuiet = false;
        if (lastSeq < this.#relay.entries(this.#conversationId).length) isQuiet = false;
        for (const flight of actor.flights.splice(0)) await this.#deliver(actor, flight);
      }
      if (isQuiet) return;
    }
    throw new Error('no rest');
  }

  async #check(): Promise<string[]> {
    const wrong: string[] = [];
    const log = this.#relay.entries(this.#conversationId).filter(({ kind }) => kind === 'application');
    for (const [messageId, text] of this.#written) {
      const times = log.filter(({ id }) => id === messageId).length;
      if (times !== 1) wrong.push(`"${text}" is ${times} times in the log`);
    }
    const members = [...this.#relay.group(this.#conversationId).members].sort().join();
    for (const actor of this.#actors.filter((one) => this.#isMember(one))) {
      const name = `${actor.userId.slice(0, 8)}/${actor.device.deviceId.slice(0, 4)}`;
      const state = await actor.device.api.conversation(this.#conversationId);
      const tree = state.members
        .map(({ userId }) => userId)
        .sort()
        .join();
      if (state.status !== 'joined') wrong.push(`${name} is ${state.status}`);
      if (state.epoch !== this.#relay.log(this.#conversationId).epoch) wrong.push(`${name}: another epoch`);
      if (tree !== members) wrong.push(`${name} sees ${tree} and not ${members}`);
      if (state.group?.leavingIds.length !== 0) wrong.push(`${name} has somebody to remove`);
      const expected = log.filter(({ seq }) => seq > state.joinedSeq).map(({ id }) => this.#textOf(id));
      const shown = (await actor.device.history(this.#conversationId)).map(textOf);
      if (shown.join('\n') !== expected.join('\n'))
        wrong.push(`${name} shows ${shown.length} of ${expected.length}`);
    }
    return wrong;
  }

  #textOf(messageId: string): string {
    return this.#written.get(messageId) ?? 'nobody wrote this';
  }
}
