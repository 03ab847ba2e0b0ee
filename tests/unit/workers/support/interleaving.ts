/**
 * Simulates a group in random order: each action of each device is one draw of a seeded generator, so that
 * anything under way (a commit that isn't submitted yet, a lost answer, a tab that is gone) meets every
 * action of the others.
 */

import { ApiError } from '#relay/src/errors.ts';
import type { CommitSubmission, ConversationState, PreparedMessage } from '#workers/api/cryptoApi.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { seededRandom } from './browser.ts';
import { createWorld, type TestDevice } from './device.ts';
import { ignoring } from './ignoring.ts';
import { ReceiptExchange } from './receipts.ts';
import { type MemoryRelay, NotAMember, StaleEpoch } from './relay.ts';
import { expireOld, faultsInHistory } from './retention.ts';

/** The races that can come up in a simulation; a test that never met them would prove nothing. */
export type Event =
  | 'a commit came too late'
  | 'a message came too late'
  | 'an answer was lost'
  | 'a tab was lost'
  | 'somebody left'
  | 'somebody came back'
  | 'a device joined from outside'
  | 'a removal went first'
  | 'two tabs acted at once'
  | 'the relay deleted what is old';

type QueuedRequest = CommitSubmission | Extract<PreparedMessage, { kind: 'message' }>;

/** People who have signed up, with a device or two each; they take part in one group after the other. */
export class Population {
  readonly relay: MemoryRelay;
  readonly people: readonly (readonly TestDevice[])[];

  private constructor(relay: MemoryRelay, people: readonly (readonly TestDevice[])[]) {
    this.relay = relay;
    this.people = people;
  }

  /** Signs people up; every third one has a second device. */
  static async signUp(seed: string, count: number): Promise<Population> {
    const world = createWorld(seed);
    const people: TestDevice[][] = [];
    for (let person = 0; person < count; person++) {
      const userId = `${person.toString(16).padStart(8, '0')}-0000-4000-8000-000000000001`;
      const devices = [await world.device(userId)];
      if (person % 3 === 1) devices.push(await world.device(userId));
      people.push(devices);
    }
    return new Population(world.relay, people);
  }
}

class Participant {
  /** The tab in which it acts alone; another one is opened the first time that two act at once. */
  device: TestDevice;
  other: TestDevice | null = null;
  readonly requests: QueuedRequest[] = [];

  constructor(device: TestDevice) {
    this.device = device;
  }

  get userId(): string {
    return this.device.userId;
  }
}

export class Simulation {
  readonly #relay: MemoryRelay;
  readonly #conversationId: string;
  readonly #random: (length: number) => Uint8Array;
  readonly #people: readonly (readonly TestDevice[])[];
  /** The devices that take part; second ones join later, from outside. */
  readonly #participants: Participant[];
  /** The messages that the log has to have in the end, by id. */
  readonly #written = new Map<string, string>();
  readonly events = new Set<Event>();
  readonly #left = new Set<string>();
  readonly #receipts: ReceiptExchange;
  #count = 0;

  constructor(population: Population, people: number, seed: string) {
    this.#relay = population.relay;
    this.#random = seededRandom(seed);
    this.#conversationId = `group:${population.relay.uuid()}`;
    this.#receipts = new ReceiptExchange(this.#conversationId, seed);
    this.#people = population.people.slice(0, people);
    this.#participants = this.#people.flatMap(([first]) =>
      first === undefined ? [] : [new Participant(first)],
    );
  }

  /** Sets up, acts, and delivers everything that is left. @returns the faults that it found */
  async run(steps: number): Promise<string[]> {
    const [creator] = this.#participants;
    if (creator === undefined) throw new Error('nobody');
    await creator.device.createGroup(this.#conversationId, 'Play');
    await this.#add(creator, this.#participants.slice(1, 1 + Math.ceil(this.#people.length / 2)));
    for (const request of creator.requests.splice(0)) await this.#deliver(creator.device, request);
    for (let step = 0; step < steps; step++) await this.#act(this.#pick(this.#participants));
    await this.#settle();
    const wrong = await this.#check();
    for (const { device } of this.#participants) await device.api.forgetConversation(this.#conversationId);
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

  #isMember({ userId }: Participant): boolean {
    return this.#relay.isIn(this.#conversationId, userId);
  }

  async #act(participant: Participant): Promise<void> {
    await this.#receipts.act(participant.device);
    const draw = this.#below(100);
    if (!this.#isMember(participant)) await this.#pull(participant, 1000);
    else if (draw < 16) await this.#write(participant);
    else if (draw < 32) await this.#prepare(participant);
    else if (draw < 54) await this.#deliverAny(participant);
    else if (draw < 68) await this.#pull(participant, 1 + this.#below(6));
    else if (draw < 73) await participant.device.refreshGroup(this.#conversationId);
    else if (draw < 77) await this.#reopen(participant);
    else if (draw < 79) await this.#next(participant);
    else if (draw < 81) this.#addSecondDevice(participant);
    else if (draw < 89) await this.#leave(participant);
    else if (draw < 90) await this.#expireOld();
    else if (draw < 93) await this.#actTogether(participant);
    else await this.#addSomebody();
  }

  /** Two tabs of a browser write, prepare, send or read at the same time. */
  async #actTogether(participant: Participant): Promise<void> {
    participant.other ??= await participant.device.openTab();
    this.events.add('two tabs acted at once');
    const draws = [participant.device, participant.other].map(
      (tab) => [tab, this.#below(4), 1 + this.#below(6)] as const,
    );
    await Promise.all(
      draws.map(([tab, draw, limit]) => {
        if (draw === 0) return this.#write(participant, tab);
        if (draw === 1) return this.#prepare(participant, tab);
        return draw === 2 ? this.#deliverAny(participant, tab) : this.#pull(participant, limit, tab);
      }),
    );
  }

  async #expireOld(): Promise<void> {
    const devices = this.#participants.filter((one) => this.#isMember(one)).map(({ device }) => device);
    if (await expireOld(this.#relay, this.#conversationId, devices, (limit) => this.#below(limit)))
      this.events.add('the relay deleted what is old');
  }

  async #addSomebody(): Promise<void> {
    const [creator] = this.#participants;
    const absent = this.#participants.filter((other) => !this.#isMember(other));
    if (creator === undefined || absent.length === 0) return;
    if (this.#below(2) > 0) await this.#pull(creator, 1000);
    await this.#add(creator, [this.#pick(absent)]);
  }

  async #write({ device, userId }: Participant, tab = device): Promise<void> {
    const text = `${userId.slice(0, 8)} says ${this.#count++}`;
    this.#written.set(await tab.queue(this.#conversationId, text), text);
  }

  async #outbox({ device }: Participant): Promise<string[]> {
    return (await device.api.outbox(this.#conversationId)).map(({ messageId }) => messageId);
  }

  async #prepare(participant: Participant, tab = participant.device): Promise<void> {
    const waiting = await this.#outbox(participant);
    if (waiting.length === 0) return;
    const before = await tab.api.conversation(this.#conversationId);
    const prepared = await tab.api.prepareMessage(this.#pick(waiting)).catch(ignoring('unknown-message'));
    if (prepared === undefined) return;
    if ((before.group?.leavingIds.length ?? 0) > 0) {
      if (prepared.kind === 'message') throw new Error('encrypts a message to somebody who left');
      if (prepared.kind === 'commit') this.events.add('a removal went first');
    }
    if (prepared.kind === 'message') participant.requests.push(prepared);
    if (prepared.kind === 'commit') participant.requests.push(prepared.submission);
  }

  async #next(participant: Participant): Promise<void> {
    const submission = await participant.device.api.nextCommit(this.#conversationId);
    if (submission !== null) participant.requests.push(submission);
  }

  /** Delivers any message or commit; some are delivered twice, and some answers are lost. */
  async #deliverAny(participant: Participant, tab = participant.device): Promise<void> {
    if (participant.requests.length === 0) return;
    const request = this.#pick(participant.requests);
    if (this.#below(8) > 0) participant.requests.splice(participant.requests.indexOf(request), 1);
    await this.#deliver(tab, request);
  }

  async #deliver(device: TestDevice, request: QueuedRequest): Promise<void> {
    try {
      if ('commit' in request) {
        await this.#submit(device, request);
        return;
      }
      const { seq, timestamp } = this.#relay.send(device, request);
      if (this.#below(2) > 0) await device.api.messageAccepted(request.messageId, { seq, timestamp });
      else this.events.add('an answer was lost');
    } catch (error) {
      // The device may have forgotten the message together with the group.
      const gone = error instanceof CryptoApiError && error.code === 'unknown-message';
      if (!(error instanceof StaleEpoch || error instanceof NotAMember || gone)) throw error;
      if (error instanceof StaleEpoch)
        this.events.add('commit' in request ? 'a commit came too late' : 'a message came too late');
    }
  }

  /** Submits a commit, and all of its tree where the relay lacks some of it: the tree was inside until now. */
  async #submit(device: TestDevice, submission: CommitSubmission): Promise<void> {
    try {
      this.#relay.submit(device, submission);
    } catch (error) {
      const { tree } = submission;
      if (tree === null || !(error instanceof ApiError && error.code === 'missing-tree')) throw error;
      const parts = await device.api.pendingTree(this.#conversationId);
      this.#relay.submit(device, { ...submission, tree: { ...tree, parts } });
    }
  }

  async #pull(
    participant: Participant,
    limit: number,
    tab = participant.device,
  ): Promise<ConversationState | undefined> {
    const id = this.#conversationId;
    const { api, deviceId } = tab;
    if (!this.#isMember(participant)) return this.#forget(participant);
    const mailbox = this.#relay.mailbox(deviceId);
    for (const item of mailbox.filter(({ conversationId }) => conversationId === id)) {
      const tree = this.#relay.tree(id, item.treeHash);
      // Another tab may have been faster, here and below: the next page is another one.
      await api.joinByWelcome({ ...item, tree }).catch(ignoring('missing-key'));
      if (this.#left.has(participant.userId)) this.events.add('somebody came back');
      if (mailbox.includes(item)) mailbox.splice(mailbox.indexOf(item), 1);
    }
    await tab.link(id);
    const before = await api.conversation(id);
    const entries = this.#relay.entries(id, before.lastSeq);
    const page = before.status === 'outside' ? entries : entries.slice(0, limit);
    const { state } = (await api.processEntries(id, page).catch(ignoring('gap', 'usage'))) ?? {};
    if (state === undefined) return undefined;
    if (before.status === 'outside' && state.status === 'joined')
      this.events.add('a device joined from outside');
    if (state.status === 'forked') throw new Error(`${participant.userId} forked: ${state.refusal}`);
    if (state.status === 'outside' && !mailbox.some(({ conversationId }) => conversationId === id)) {
      const waiting = await api.nextCommit(id);
      const { epoch, groupInfo, treeHash } = this.#relay.log(id);
      const tree = this.#relay.tree(id, treeHash);
      const isStale = waiting === null || waiting.epoch < epoch;
      const joining = { conversationId: id, epoch, groupInfo, tree };
      const submission = isStale ? await api.joinByExternalCommit(joining).catch(ignoring('usage')) : waiting;
      if (submission !== undefined) participant.requests.push(submission);
    }
    return state;
  }

  /** Reopens the tab, which loses half of the requests that it had under way. */
  async #reopen(participant: Participant): Promise<void> {
    this.events.add('a tab was lost');
    participant.device = participant.other ?? (await participant.device.openTab());
    participant.other = null;
    const kept = participant.requests.filter(() => this.#below(2) > 0);
    participant.requests.splice(0, participant.requests.length, ...kept);
  }

  #addSecondDevice({ userId }: Participant): void {
    const active = new Set(this.#participants.map(({ device }) => device.deviceId));
    const devices = this.#people.flat().filter((device) => device.userId === userId);
    const second = devices.find(({ deviceId }) => !active.has(deviceId));
    if (second !== undefined) this.#participants.push(new Participant(second));
  }

  async #add(creator: Participant, people: readonly Participant[]): Promise<void> {
    await creator.device.refreshGroup(this.#conversationId);
    const active = new Set(this.#participants.map(({ device }) => device.deviceId));
    const userIds = people.map(({ userId }) => userId);
    const keyPackages = this.#relay.claim(userIds, '').filter(({ deviceId }) => active.has(deviceId));
    try {
      const { api } = creator.device;
      creator.requests.push(await api.addMembers({ conversationId: this.#conversationId, keyPackages }));
    } catch (error) {
      // Another commit is pending, or this device still has these people in its tree.
      if (!(error instanceof CryptoApiError && ['pending', 'usage'].includes(error.code))) throw error;
    }
  }

  async #leave(participant: Participant): Promise<void> {
    if (participant.userId === this.#relay.group(this.#conversationId).creatorId) return;
    const statement = await this.#statementOf(participant);
    if (statement === null) return;
    this.events.add('somebody left');
    this.#left.add(participant.userId);
    this.#relay.leave(this.#conversationId, participant.userId, statement);
    await this.#forget(participant);
  }

  /** Signs a leave statement; null for a device that is outside, or whose commits keep coming too late. */
  async #statementOf(participant: Participant): Promise<string | null> {
    const { api } = participant.device;
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        return await api.leaveStatement(this.#conversationId);
      } catch (error) {
        if (error instanceof CryptoApiError && error.code === 'usage') return null;
        if (!(error instanceof CryptoApiError && error.code === 'pending')) throw error;
      }
      const waiting = await api.nextCommit(this.#conversationId);
      if (waiting !== null) await this.#deliver(participant.device, waiting);
      await this.#pull(participant, 1000);
    }
    return null;
  }

  async #forget(participant: Participant): Promise<undefined> {
    const logged = new Set(this.#relay.entries(this.#conversationId).map(({ id }) => id));
    for (const messageId of await this.#outbox(participant)) {
      if (!logged.has(messageId)) this.#written.delete(messageId);
    }
    await participant.device.api.forgetConversation(this.#conversationId);
    participant.requests.length = 0;
  }

  /** Keeps everybody online until nothing is left to do. */
  async #settle(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      let isQuiet = true;
      for (const participant of this.#participants) {
        const state = await this.#pull(participant, 1000);
        if (state === undefined) continue;
        await participant.device.refreshGroup(this.#conversationId);
        await this.#next(participant);
        for (const messageId of await this.#outbox(participant)) {
          isQuiet = false;
          const prepared = await participant.device.api.prepareMessage(messageId);
          if (prepared.kind === 'message') participant.requests.push(prepared);
          if (prepared.kind === 'commit') participant.requests.push(prepared.submission);
        }
        const { lastSeq, status } = await participant.device.api.conversation(this.#conversationId);
        if (status !== 'joined' || participant.requests.length > 0) isQuiet = false;
        if (lastSeq < this.#relay.entries(this.#conversationId).length) isQuiet = false;
        for (const request of participant.requests.splice(0))
          await this.#deliver(participant.device, request);
      }
      if (isQuiet) return;
      if (round < 2 && this.#below(2) > 0) await this.#expireOld();
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
    for (const participant of this.#participants.filter((one) => this.#isMember(one))) {
      const name = `${participant.userId.slice(0, 8)}/${participant.device.deviceId.slice(0, 4)}`;
      const state = await participant.device.api.conversation(this.#conversationId);
      const tree = state.members
        .map(({ userId }) => userId)
        .sort()
        .join();
      if (state.status !== 'joined') wrong.push(`${name} is ${state.status}`);
      if (state.epoch !== this.#relay.log(this.#conversationId).epoch) wrong.push(`${name}: another epoch`);
      if (tree !== members) wrong.push(`${name} sees ${tree} and not ${members}`);
      if (state.group?.leavingIds.length !== 0) wrong.push(`${name} has somebody to remove`);
      const { entries } = this.#relay.log(this.#conversationId);
      const { device } = participant;
      const faults = await faultsInHistory(device, this.#conversationId, entries, state, this.#written);
      wrong.push(...faults.map((fault) => `${name} ${fault}`));
      for (const { change, seq } of await participant.device.api.events(this.#conversationId)) {
        if (['missing', 'withheld', 'diverged', 'refused'].includes(change.kind))
          wrong.push(`${name} has a false alarm at ${seq}: ${change.kind}`);
      }
      if (state.linkFrom !== null) wrong.push(`${name} keeps no running hash`);
    }
    return wrong;
  }
}
