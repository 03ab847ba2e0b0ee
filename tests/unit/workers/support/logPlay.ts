/**
 * Plays of one conversation in random order, with a relay that tells the truth, or lies to one device at a random moment
 * about what that device has not read yet.
 */
import type { LogEntryInput, PreparedMessage } from '#workers/api/cryptoApi.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { seededRandom } from './browser.ts';
import { type TestDevice, textOf, type World } from './device.ts';
import { ReceiptExchange } from './receipts.ts';
import { type MemoryRelay, StaleEpoch } from './relay.ts';

/** The lies that running hashes show to both sides. */
const hashedLies = ['drop', 'swap', 'replace', 'duplicate', 'invent', 'fork'] as const;
/** The lies that the device shows by itself: another time of an entry, and a commit that is left out. */
const shownLies = ['retime', 'dropCommit'] as const;
export const lies = [...hashedLies, ...shownLies] as const;
export type Lie = (typeof lies)[number];
export const isHashed = (lie: Lie): boolean => !shownLies.some((one) => one === lie);

const day = 86_400_000;

type Ready = Extract<PreparedMessage, { kind: 'message' }>;

export class Player {
  device: TestDevice;
  readonly requests: Ready[] = [];
  /** The log that the relay shows it instead of the true one; null while that is the same. */
  view: LogEntryInput[] | null = null;

  constructor(device: TestDevice) {
    this.device = device;
  }
}

export class LogPlay {
  readonly #relay: MemoryRelay;
  readonly #clock: World['clock'];
  readonly #id: string;
  readonly #random: (length: number) => Uint8Array;
  readonly players: Player[];
  readonly #receipts: ReceiptExchange;
  #shown = 0;
  #count = 0;
  /** The entry that the last lie was about. */
  #about: LogEntryInput | null = null;

  constructor(
    { clock, relay }: Pick<World, 'clock' | 'relay'>,
    conversationId: string,
    devices: readonly TestDevice[],
    seed: string,
  ) {
    this.#relay = relay;
    this.#clock = clock;
    this.#id = conversationId;
    this.#random = seededRandom(seed);
    this.#receipts = new ReceiptExchange(conversationId, seed);
    this.players = devices.map((device) => new Player(device));
  }

  below(limit: number): number {
    const [high = 0, low = 0] = this.#random(2);
    return (high * 256 + low) % limit;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** One action of one device: writing, sending late or twice, losing an answer or a tab, reading some; and receipts. */
  async act(): Promise<void> {
    const player = this.pick(this.players);
    const draw = this.below(10);
    if (draw < 3) await this.#write(player);
    else if (draw < 5) await this.#prepare(player);
    else if (draw < 7) await this.#deliver(player);
    else if (draw < 9) await this.read(player, 1 + this.below(5));
    else await this.#reopen(player);
    await this.#receipts.act(player.device);
  }

  /** Reads on, at most so many entries. */
  async read(player: Player, limit = 1000): Promise<void> {
    const { device } = player;
    const mailbox = this.#relay.mailbox(device.deviceId);
    for (const item of mailbox.filter(({ conversationId }) => conversationId === this.#id)) {
      const tree = this.#relay.tree(this.#id, item.treeHash);
      await device.api.joinByWelcome({ ...item, tree });
      mailbox.splice(mailbox.indexOf(item), 1);
    }
    await device.link(this.#id);
    const { lastSeq, status } = await device.api.conversation(this.#id);
    const entries = this.#entries(player).filter(({ seq }) => seq > lastSeq);
    const page = status === 'outside' ? entries : entries.slice(0, limit);
    const { state } = await device.api.processEntries(this.#id, page);
    if (state.status === 'outside' && state.lastSeq === lastSeq) await device.joinByExternalCommit(this.#id);
  }

  /** Sends what waits, then says something more, having read everything. */
  async say(player: Player): Promise<void> {
    player.requests.length = 0;
    await this.read(player);
    // Where something was found in a direct conversation, the person is asked first.
    const { isDoubted } = await player.device.api.conversation(this.#id);
    if (isDoubted) await player.device.api.sendAnyway(this.#id);
    await this.#write(player);
    for (let attempt = 0; attempt < 40; attempt++) {
      for (let rest = 0; rest < 3; rest++) await this.read(player);
      const waiting = await player.device.api.outbox(this.#id);
      const next = waiting.find(({ status }) => status !== 'sent');
      if (next === undefined) return;
      const prepared = await player.device.api.prepareMessage(next.messageId);
      if (prepared.kind === 'commit') player.device.submit(prepared.submission);
      if (prepared.kind === 'message') await this.#send(player, prepared);
    }
    throw new Error('the message found no way');
  }

  /** Lies to the player about the messages it has not read. @returns false where there is too little to lie about */
  async lie(player: Player, lie: Lie): Promise<boolean> {
    const { lastSeq } = await player.device.api.conversation(this.#id);
    const log = this.#relay.entries(this.#id);
    const from = lie === 'dropCommit' ? 0 : log.findLastIndex(({ kind }) => kind === 'commit') + 1;
    // Before a commit nothing can be left out that was sent in its epoch; own messages are known.
    const isOpen = (entry: LogEntryInput | undefined, at: number): entry is LogEntryInput =>
      at >= from && entry !== undefined && entry.seq > lastSeq && entry.sender_id !== player.device.userId;
    const isKind = ({ kind }: LogEntryInput) => (kind === 'commit') === (lie === 'dropCommit');
    const places = log.flatMap((entry, at) => (isOpen(entry, at) && isKind(entry) ? [at] : []));
    const pairs = places.filter((at) => isOpen(log[at + 1], at + 1));
    if ((lie === 'swap' ? pairs : places).length === 0) return false;
    const at = this.pick(lie === 'swap' ? pairs : places);
    const entry = log[at] as LogEntryInput;
    const garbage = Buffer.from(this.#random(300)).toString('base64url');
    const shown: Record<Lie, LogEntryInput[]> = {
      drop: [],
      swap: [log[at + 1] as LogEntryInput, entry],
      replace: [{ ...entry, content: garbage }],
      duplicate: [entry, { ...entry, id: this.#relay.uuid() }],
      invent: [entry, { ...entry, id: this.#relay.uuid(), content: garbage }],
      // Somebody else's name under the same bytes, which the others are not shown.
      fork: [{ ...entry, id: this.#relay.uuid() }],
      retime: [{ ...entry, timestamp: new Date(Date.parse(entry.timestamp) - day).toISOString() }],
      dropCommit: [],
    };
    this.#about = entry;
    player.view = [...log];
    player.view.splice(at, lie === 'swap' ? 2 : 1, ...shown[lie]);
    this.#shown = log.length;
    return true;
  }

  /** A device loses the conversation, and comes back by a commit of its own. */
  async comeBack(player: Player): Promise<void> {
    await player.device.api.forgetConversation(this.#id);
    await this.read(player);
    await this.say(player);
  }

  /** Returns what a player is shown of the entry that the last lie was about, and of the messages of others after it. */
  async shownOf({ device }: Player): Promise<{ isTimeBelieved: boolean; after: readonly string[] }> {
    const about = this.#about;
    if (about === null) throw new Error('no lie');
    const history = await device.history(this.#id);
    const lied = history.find(({ messageId }) => messageId === about.id);
    return {
      isTimeBelieved: lied?.clock?.isBelieved !== false,
      after: history
        .filter(({ senderId, seq }) => senderId !== device.userId && (seq ?? 0) >= about.seq)
        .map(textOf),
    };
  }

  /** The players that have found that logs differ. */
  async alarmed(): Promise<Player[]> {
    const found: Player[] = [];
    for (const player of this.players) {
      const events = await player.device.api.events(this.#id);
      if (events.some(({ change }) => change.kind === 'missing' || change.kind === 'diverged'))
        found.push(player);
    }
    return found;
  }

  /** Writes a message whose time is the true one. */
  async #write({ device }: Player): Promise<void> {
    const sentAt = new Date(this.#clock.now()).toISOString();
    await device.queue(this.#id, `says ${this.#count++}`, this.#relay.uuid(), sentAt);
  }

  #entries(player: Player): LogEntryInput[] {
    const log = this.#relay.entries(this.#id);
    if (player.view === null) return log;
    return [...player.view, ...log.slice(this.#shown)].map((entry, i) => ({ ...entry, seq: i + 1 }));
  }

  async #prepare(player: Player): Promise<void> {
    const { api } = player.device;
    const waiting = (await api.outbox(this.#id)).filter(({ status }) => status !== 'sent');
    if (waiting.length === 0) return;
    const prepared = await api.prepareMessage(this.pick(waiting).messageId);
    if (prepared.kind === 'message') player.requests.push(prepared);
    if (prepared.kind === 'commit') player.device.submit(prepared.submission);
  }

  async #deliver(player: Player): Promise<void> {
    if (player.requests.length === 0) return;
    const request = this.pick(player.requests);
    if (this.below(6) > 0) player.requests.splice(player.requests.indexOf(request), 1);
    await this.#send(player, request);
  }

  async #send(player: Player, request: Ready): Promise<void> {
    const { device } = player;
    const { messageId } = request;
    try {
      const { seq: stored, timestamp } = this.#relay.send(device, request);
      // A relay that lies names the position that it will show.
      const seq = this.#entries(player).find(({ id }) => id === messageId)?.seq ?? stored;
      if (this.below(3) > 0) await device.api.messageAccepted(messageId, { seq, timestamp });
    } catch (error) {
      const isGone = error instanceof CryptoApiError && error.code === 'unknown-message';
      if (!(error instanceof StaleEpoch || isGone)) throw error;
    }
  }

  async #reopen(player: Player): Promise<void> {
    player.device = await player.device.openTab();
    player.requests.splice(0, this.below(player.requests.length + 1));
  }
}
