/**
 * Plays of one direct conversation in random order: two people with up to two devices each, and each device with up to two
 * tabs, whose actions fall between each other's and at the same time. The relay tells the truth.
 */
import type { CommitSubmission, PreparedMessage } from '#workers/api/cryptoApi.ts';
import { seededRandom } from './browser.ts';
import { createWorld, type TestDevice } from './device.ts';
import { ignoring } from './ignoring.ts';
import { ReceiptExchange } from './receipts.ts';
import { type MemoryRelay, StaleEpoch } from './relay.ts';
import { expire, expireOld, faultsInHistory } from './retention.ts';

/** The legitimate gaps and races of direct conversations; plays that never met one would prove nothing of it. */
export const directEvents = [
  'both began it',
  'a commit came too late',
  'a message came too late',
  'an answer was lost',
  'a request came twice',
  'a tab was lost',
  'two tabs acted at once',
  'a device joined from outside',
  'a device forgot it and came back',
  'an entry lost its content',
  'the relay deleted what is old',
  'somebody was told to have been read',
] as const;
export type DirectEvent = (typeof directEvents)[number];

type Request = CommitSubmission | Extract<PreparedMessage, { kind: 'message' }>;
type Action = (player: Player, tab: TestDevice) => Promise<void>;

const everything = 1000;
/** The draws below it are of what a tab does by itself, which opens none: WebCrypto would answer in an order that no seed decides. */
const ofTabs = 80;

class Player {
  /** Tabs of one browser: at least one is open. */
  readonly tabs: TestDevice[];
  readonly requests: Request[] = [];
  hasForgotten = false;

  constructor(device: TestDevice) {
    this.tabs = [device];
  }

  get first(): TestDevice {
    return this.tabs[0] as TestDevice;
  }
}

/** Signs two people up, each with two devices. */
export async function signUpPair(seed: string): Promise<TestDevice[][]> {
  const world = createWorld(seed);
  const people: TestDevice[][] = [];
  for (const person of [1, 2]) {
    const userId = `${person}0000000-0000-4000-8000-000000000000`;
    people.push([await world.device(userId), await world.device(userId)]);
  }
  return people;
}

export class DirectPlay {
  readonly events = new Set<DirectEvent>();
  readonly #relay: MemoryRelay;
  readonly #id: string;
  readonly #random: (length: number) => Uint8Array;
  readonly #receipts: ReceiptExchange;
  readonly #players: Player[];
  /** Second devices, which come in later. */
  readonly #absent: TestDevice[];
  /** The messages that the log has to have in the end, by id. */
  readonly #written = new Map<string, string>();
  readonly #starters = new Set<string>();
  #count = 0;

  constructor(people: readonly (readonly TestDevice[])[], seed: string) {
    const [one, other] = people.map(([first]) => first as TestDevice) as [TestDevice, TestDevice];
    this.#relay = one.relay;
    this.#id = `direct:${one.userId}:${other.userId}`;
    this.#random = seededRandom(seed);
    this.#receipts = new ReceiptExchange(this.#id, seed);
    this.#players = [new Player(one), new Player(other)];
    this.#absent = people.flatMap((devices) => devices.slice(1));
  }

  /** Acts, delivers everything that is left, and forgets it all. @returns the faults that it found */
  async run(steps: number): Promise<string[]> {
    for (let step = 0; step < steps; step++) await this.#act();
    await this.#settle();
    const wrong = await this.#check();
    for (const { first } of this.#players) await first.api.forgetConversation(this.#id);
    this.#relay.forget(this.#id);
    return wrong;
  }

  #below(limit: number): number {
    const [high = 0, low = 0] = this.#random(2);
    return (high * 256 + low) % limit;
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  async #act(): Promise<void> {
    const player = this.#pick(this.#players);
    await this.#receipts.act(this.#pick(player.tabs));
    const [one, other] = player.tabs;
    if (one === undefined || other === undefined) return this.#draw(100)(player, player.first);
    if (this.#below(3) > 0) return this.#draw(100)(player, this.#pick(player.tabs));
    this.events.add('two tabs acted at once');
    const [first, second] = [this.#draw(ofTabs), this.#draw(ofTabs)];
    await Promise.all([first(player, one), second(player, other)]);
  }

  #draw(limit: number): Action {
    const draw = this.#below(limit);
    if (draw < 20) return (_player, tab) => this.#write(tab);
    if (draw < 38) return (player, tab) => this.#prepare(player, tab);
    if (draw < 58) return (player, tab) => this.#deliverAny(player, tab);
    const entries = 1 + this.#below(6);
    if (draw < ofTabs) return (player, tab) => this.#pull(player, tab, entries);
    if (draw < 84) return (player) => this.#reopen(player);
    if (draw < 88) return (player) => this.#openTab(player);
    if (draw < 91) return async () => this.#addDevice();
    if (draw < 94) return async () => this.#loseContent();
    if (draw < 95) return async () => this.#expireOld();
    if (draw < 97) return (player) => this.#forget(player);
    return (player, tab) => this.#next(player, tab);
  }

  async #write(tab: TestDevice): Promise<void> {
    const text = `${tab.deviceId.slice(0, 4)} says ${this.#count++}`;
    this.#written.set(await tab.queue(this.#id, text), text);
  }

  async #waiting({ api }: TestDevice): Promise<string[]> {
    const waiting = await api.outbox(this.#id);
    return waiting.filter(({ status }) => status !== 'sent').map(({ messageId }) => messageId);
  }

  async #prepare(player: Player, tab: TestDevice): Promise<void> {
    const waiting = await this.#waiting(tab);
    if (waiting.length === 0) return;
    await this.#prepareOne(player, tab, this.#pick(waiting));
  }

  async #prepareOne(player: Player, tab: TestDevice, messageId: string): Promise<void> {
    const prepared = await tab.api.prepareMessage(messageId).catch(ignoring('unknown-message'));
    if (prepared?.kind === 'message') player.requests.push(prepared);
    if (prepared?.kind === 'commit') player.requests.push(prepared.submission);
    if (prepared?.kind === 'outside') await this.#begin(player, tab);
  }

  /** Begins the conversation, unless the other has: then the device waits for its Welcome, or joins from outside. */
  async #begin(player: Player, tab: TestDevice): Promise<void> {
    if (this.#relay.log(this.#id).epoch > 0) return this.#pull(player, tab, everything);
    const userIds = this.#players.map(({ first }) => first.userId);
    const playing = new Set(this.#players.map(({ first }) => first.deviceId));
    const claimed = this.#relay.claim(userIds, tab.deviceId);
    const keyPackages = claimed.filter(({ deviceId }) => playing.has(deviceId));
    const submission = await tab.api
      .startConversation({ conversationId: this.#id, keyPackages })
      .catch(ignoring('usage'));
    if (submission === undefined) return;
    this.#starters.add(tab.userId);
    if (this.#starters.size > 1) this.events.add('both began it');
    player.requests.push(submission);
  }

  /** Delivers any message or commit; some are delivered twice, and some answers are lost. */
  async #deliverAny(player: Player, tab: TestDevice): Promise<void> {
    if (player.requests.length === 0) return;
    const request = this.#pick(player.requests);
    if (this.#below(7) > 0) player.requests.splice(player.requests.indexOf(request), 1);
    else this.events.add('a request came twice');
    await this.#deliver(tab, request);
  }

  async #deliver(tab: TestDevice, request: Request): Promise<void> {
    try {
      if ('commit' in request) {
        this.#relay.submit(tab, request);
        return;
      }
      const { seq, timestamp } = this.#relay.send(tab, request);
      if (this.#below(3) === 0) this.events.add('an answer was lost');
      else
        await tab.api
          .messageAccepted(request.messageId, { seq, timestamp })
          .catch(ignoring('unknown-message'));
    } catch (error) {
      if (!(error instanceof StaleEpoch)) throw error;
      this.events.add('commit' in request ? 'a commit came too late' : 'a message came too late');
    }
  }

  async #pull(player: Player, tab: TestDevice, limit: number): Promise<void> {
    const { api } = tab;
    const mailbox = this.#relay.mailbox(tab.deviceId);
    for (const item of mailbox.filter(({ conversationId }) => conversationId === this.#id)) {
      await api.joinByWelcome(item).catch(ignoring('missing-key'));
      if (mailbox.includes(item)) mailbox.splice(mailbox.indexOf(item), 1);
    }
    await tab.link(this.#id);
    const { lastSeq, status } = await api.conversation(this.#id);
    const entries = this.#relay.entries(this.#id, lastSeq);
    const page = status === 'outside' ? entries : entries.slice(0, limit);
    // Another tab may have read on meanwhile, or let go of the conversation: the next page is another one.
    const { state } = (await api.processEntries(this.#id, page).catch(ignoring('gap', 'usage'))) ?? {};
    if (status === 'outside' && state?.status === 'joined') {
      this.events.add(
        player.hasForgotten ? 'a device forgot it and came back' : 'a device joined from outside',
      );
    }
    if (state?.status === 'forked') throw new Error(`${tab.deviceId} forked: ${state.refusal}`);
    const { epoch, groupInfo } = this.#relay.log(this.#id);
    if (state?.status !== 'outside' || epoch === 0) return;
    const waiting = await api.nextCommit(this.#id);
    const isStale = waiting === null || waiting.epoch < epoch;
    const submission = isStale
      ? await api
          .joinByExternalCommit({ conversationId: this.#id, epoch, groupInfo })
          .catch(ignoring('usage'))
      : waiting;
    if (submission !== undefined) player.requests.push(submission);
  }

  async #next(player: Player, { api }: TestDevice): Promise<void> {
    const submission = await api.nextCommit(this.#id);
    if (submission !== null) player.requests.push(submission);
  }

  /** One tab is gone, with some of what was under way between encrypting and sending; another one opens. */
  async #reopen(player: Player): Promise<void> {
    this.events.add('a tab was lost');
    const [gone] = player.tabs.splice(this.#below(player.tabs.length), 1);
    if (gone !== undefined) player.tabs.push(await gone.openTab());
    const kept = player.requests.filter(() => this.#below(2) > 0);
    player.requests.splice(0, player.requests.length, ...kept);
  }

  async #openTab(player: Player): Promise<void> {
    if (player.tabs.length === 1) player.tabs.push(await player.first.openTab());
    else player.tabs.pop();
  }

  #addDevice(): void {
    const device = this.#absent.pop();
    if (device !== undefined) this.#players.push(new Player(device));
  }

  /** The relay deletes the content of any message, as under retention, and keeps its digest. */
  #loseContent(): void {
    const { entries } = this.#relay.log(this.#id);
    const messages = entries.filter(({ content, kind }) => kind === 'application' && content !== '');
    if (messages.length === 0) return;
    const { seq } = this.#pick(messages);
    this.events.add('an entry lost its content');
    expire(this.#relay, this.#id, seq, seq);
  }

  async #expireOld(): Promise<void> {
    const devices = this.#players.map(({ first }) => first);
    const isAny = await expireOld(this.#relay, this.#id, devices, (limit) => this.#below(limit));
    if (isAny) this.events.add('the relay deleted what is old');
  }

  /** The browser loses the conversation, with what it had not sent, and the device comes back in place of its old leaf. */
  async #forget(player: Player): Promise<void> {
    const { api } = player.first;
    if ((await api.conversation(this.#id)).status !== 'joined') return;
    const logged = new Set(this.#relay.entries(this.#id).map(({ id }) => id));
    for (const { messageId } of await api.outbox(this.#id)) {
      if (!logged.has(messageId)) this.#written.delete(messageId);
    }
    await api.forgetConversation(this.#id);
    player.requests.length = 0;
    player.hasForgotten = true;
  }

  /** Keeps everybody online until nothing is left to do. */
  async #settle(): Promise<void> {
    for (let round = 0; round < 40; round++) {
      let isQuiet = round > 0;
      // By now most are in it, and not everybody has read everything.
      if (round < 3 && this.#below(2) > 0) await this.#expireOld();
      for (const player of this.#players) {
        const tab = this.#pick(player.tabs);
        await this.#pull(player, tab, everything);
        await this.#next(player, tab);
        for (const messageId of await this.#waiting(tab)) {
          isQuiet = false;
          await this.#prepareOne(player, tab, messageId);
        }
        const { lastSeq, status } = await tab.api.conversation(this.#id);
        const isBehind = lastSeq < this.#relay.entries(this.#id).length;
        if (isBehind || status !== 'joined' || player.requests.length > 0) isQuiet = false;
        for (const request of player.requests.splice(0)) await this.#deliver(tab, request);
      }
      if (isQuiet || this.#count === 0) return this.#lastReceipts();
    }
    throw new Error('no rest');
  }

  /** Everybody has read everything, and is told so by the others. */
  async #lastReceipts(): Promise<void> {
    for (const { first } of this.#players) await this.#receipts.tell(first);
    for (const { first } of this.#players) await this.#receipts.takeAll(first);
  }

  async #check(): Promise<string[]> {
    if (this.#count === 0) return [];
    const wrong: string[] = [];
    const log = this.#relay.entries(this.#id).filter(({ kind }) => kind === 'application');
    for (const [messageId, text] of this.#written) {
      const times = log.filter(({ id }) => id === messageId).length;
      if (times !== 1) wrong.push(`"${text}" is ${times} times in the log`);
    }
    for (const { tabs } of this.#players) for (const tab of tabs) wrong.push(...(await this.#faultsOf(tab)));
    return wrong;
  }

  async #faultsOf(tab: TestDevice): Promise<string[]> {
    const wrong: string[] = [];
    const state = await tab.api.conversation(this.#id);
    const { epoch, entries } = this.#relay.log(this.#id);
    const last = entries.findLast(
      ({ kind, sender_id }) => kind === 'application' && sender_id === tab.userId,
    );
    if (state.status !== 'joined') wrong.push(`is ${state.status}`);
    if (state.epoch !== epoch) wrong.push(`is in epoch ${state.epoch} of ${epoch}`);
    if (state.linkFrom !== null) wrong.push('keeps no running hash');
    if (state.isDoubted) wrong.push('has a false alarm: doubt');
    for (const { change, seq } of await tab.api.events(this.#id)) {
      if (['missing', 'withheld', 'diverged', 'refused'].includes(change.kind))
        wrong.push(`has a false alarm at ${seq}: ${change.kind}`);
    }
    const [other] = state.receipts.filter(({ userId }) => userId !== tab.userId);
    if (other !== undefined && last !== undefined && other.readSeq >= last.seq)
      this.events.add('somebody was told to have been read');
    wrong.push(...(await faultsInHistory(tab, this.#id, entries, state, this.#written)));
    return wrong.map((fault) => `${tab.userId.slice(0, 1)}/${tab.deviceId.slice(0, 4)} ${fault}`);
  }
}
