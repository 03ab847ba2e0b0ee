import type { MessageChange } from '#src/crypto/client.ts';
import { selfConversationId } from '#src/net/contract.ts';
import { contactsAtom, incomingRequestsAtom } from '#src/store/contacts.ts';
import { authStatusAtom } from '#src/store/session.ts';
import type { MessageView, Words } from '#workers/api/cryptoApi.ts';
import { Random } from '../seams/random.ts';
import { pass, passUntil, worldNow } from '../seams/time.ts';
import { codeOf } from './codes.ts';
import { copyStorage } from './disk.ts';
import { fairWeather, Line } from './network.ts';
import { Nonces } from './nonces.ts';
import { type Changed, Person, type Place, type Said, Seat, textAt, textsOf } from './people.ts';
import { Profile, type Tab } from './profile.ts';
import { startRelay, type WorldRelay } from './relay.ts';
import { type StoredDevice, storedDevice } from './stored.ts';
import { Thief } from './thieves.ts';
import { Trace } from './trace.ts';
import { Watch } from './watch.ts';
import { faultOfTimer, type Wish } from './wishes.ts';

const names = ['anna', 'bert', 'carl', 'dora', 'ella', 'fred'];
const minute = 60_000;

/** Everybody, their browsers, the relay, and what has been said. */
export class World {
  readonly relay: WorldRelay;
  readonly trace = new Trace();
  readonly nonces = new Nonces();
  readonly people: Person[] = [];
  readonly said: Said[] = [];
  readonly wishes: Wish[] = [];
  /** Seconds after which texts disappear that are not to stay, by {@link textAt}. */
  readonly timed = new Map<string, number>();
  readonly thieves: Thief[] = [];
  /** Ids of the devices whose storage was copied, or put back as it was. */
  readonly inTwoPlaces = new Set<string>();
  /** Faults that no world may show, in plain words. */
  readonly wrong: string[] = [];
  /** How often each thing happened. */
  readonly events = new Map<string, number>();
  /** How many messages there were when everybody said a last word. */
  saidBeforeLast = 0;
  readonly #network: Random;
  readonly #watch = new Watch(this);
  /** The tabs in which something is under way. */
  readonly #running = new Set<{ readonly tab: Tab }>();

  private constructor(relay: WorldRelay, seed: string) {
    this.relay = relay;
    this.#network = new Random(`${seed}/network`);
  }

  /** People who are each other's contacts, with a browser each. */
  static async create(seed: string, people: number): Promise<World> {
    const world = new World(await startRelay(), seed);
    await world.nonces.watch();
    for (const name of names.slice(0, people)) await world.#signUp(name);
    for (const [i, one] of world.people.entries()) {
      for (const other of world.people.slice(i + 1)) await world.#befriend(one, other);
    }
    return world;
  }

  async end(): Promise<void> {
    for (const { seats } of this.people) for (const { profile } of seats) profile.killTabs();
    for (const thief of this.thieves) await thief.end();
    await pass(minute);
    this.nonces.end();
    await this.relay.close();
  }

  /** Compares all that is with what holds at every moment. */
  look(): Promise<void> {
    return this.#watch.look();
  }

  count(event: string): void {
    this.events.set(event, (this.events.get(event) ?? 0) + 1);
  }

  newSeat(person: Person): Seat {
    const profile = new Profile(`${person.name}-${person.seats.length + 1}`, (name) => this.#newLine(name));
    const seat = new Seat(person, profile);
    person.seats.push(seat);
    return seat;
  }

  openTab(seat: Seat): Tab {
    const tab = seat.profile.openTab();
    tab.typist.knows(seat.person.password);
    return tab;
  }

  get seats(): Seat[] {
    return this.people.flatMap(({ seats }) => seats);
  }

  /** Does something that a person does, and waits for nothing. Every failure has to have its code. */
  begin(tab: Tab, what: string, action: () => Promise<unknown>, onDone?: () => void): void {
    const running = { tab };
    this.#running.add(running);
    this.count(what);
    const run = async () => {
      try {
        await action();
        onDone?.();
      } catch (error) {
        const code = codeOf(error);
        if (code === null) this.wrong.push(`${what} failed without a code: ${detail(error)}`);
        else this.count(`${what}: ${code}`);
      } finally {
        this.#running.delete(running);
      }
    };
    void run();
  }

  /** Does it, and waits until it is done or has failed. @returns whether it went well */
  async finish(tab: Tab, what: string, action: () => Promise<unknown>): Promise<boolean> {
    let isOver = false;
    let isDone = false;
    this.begin(
      tab,
      what,
      () =>
        action().finally(() => {
          isOver = true;
        }),
      () => {
        isDone = true;
      },
    );
    await passUntil(() => isOver || tab.isDead, 5 * minute);
    await pass(1);
    return isDone;
  }

  async signIn(seat: Seat): Promise<void> {
    const [tab = this.openTab(seat)] = seat.profile.tabs;
    const { name, password } = seat.person;
    await this.finish(tab, 'log in', () => tab.actions.logIn({ identifier: name, password }));
    if (tab.store.get(authStatusAtom) !== 'success') return;
    seat.status = 'in';
    await this.noteDevice(seat);
  }

  async noteDevice(seat: Seat): Promise<void> {
    const [tab] = seat.tabs;
    if (tab === undefined) return;
    const asked = tab.crypto.openDevice().then(
      ({ deviceId }) => deviceId,
      () => seat.deviceId,
    );
    seat.deviceId = await Promise.race([asked, tab.death.then(() => seat.deviceId)]);
  }

  /** From now on this browser's data may be in another place, too. */
  async noteTwoPlaces(seat: Seat): Promise<void> {
    await this.noteDevice(seat);
    if (seat.deviceId !== null) this.inTwoPlaces.add(seat.deviceId);
  }

  /** Somebody keeps a copy of this storage. @param conversationId that the device is taken out of; null for all */
  async steal(seat: Seat, conversationId: string | null): Promise<Thief> {
    const storage = await copyStorage(seat.profile.indexedDB);
    return new Thief(seat.person.id, seat.profile.name, storage, conversationId);
  }

  /** @param inReplyTo message id of what it answers */
  say(seat: Seat, tab: Tab, key: string, conversationId: string, inReplyTo?: string): void {
    const { said, text } = this.#newSaid({ seat, conversationId, text: this.newText(seat) });
    this.begin(
      tab,
      inReplyTo === undefined ? 'say' : 'answer',
      () => tab.actions.sendMessage(key, text, inReplyTo),
      this.#onKept(said),
    );
  }

  /** Passes a message on. @param file the bytes of its file, if it has one */
  forward(
    seat: Seat,
    tab: Tab,
    { conversationId, key }: Place,
    message: MessageView,
    words: Words,
    file: Uint8Array | null,
  ): void {
    const { said, text } = this.#newSaid({ seat, conversationId, text: words.text, file, isForwarded: true });
    if (file !== null) {
      this.begin(tab, 'forward a file', async () =>
        (await tab.actions.files()).forward(key, message, { ...words, text }),
      );
      return;
    }
    this.begin(tab, 'forward', () => tab.actions.forwardMessage(key, { ...words, text }), this.#onKept(said));
  }

  /** Sends a file. It may not be lost once the browser has it sealed, or has noted that it will: see watch.ts. */
  async sendFile(seat: Seat, tab: Tab, { conversationId, key }: Place, file: Uint8Array<ArrayBuffer>) {
    const { text } = this.#newSaid({ seat, conversationId, text: this.newText(seat), file });
    const facts = {
      name: `${text}.bin`,
      type: 'application/octet-stream',
      kind: 'file',
      description: '',
    } as const;
    this.begin(tab, 'file', async () =>
      (await tab.actions.files()).send(key, text, [{ source: new Blob([file]), facts }]),
    );
  }

  /**
   * Sets something that has one value at a time.
   * @param isOnDisk asked once that is done: where it is not, it may be lost
   */
  wish(
    { conversationId, seat, tab }: { seat: Seat; tab: Tab; conversationId: string },
    about: string,
    value: string,
    action: () => Promise<unknown>,
    isOnDisk: () => boolean = () => true,
  ): void {
    const own = storedDevice(seat.profile.indexedDB, seat.person.id)?.conversations.find(
      (one) => one.conversationId === selfConversationId(seat.person.id),
    );
    const wish: Wish = {
      about,
      value,
      seat,
      conversationId,
      isKept: false,
      mayBeLost: false,
      begunAt: worldNow(),
      doneAt: null,
      deviceId: seat.deviceId,
      ownSeq: own?.isMember === true ? own.lastSeq : -1,
    };
    this.wishes.push(wish);
    this.begin(tab, about.split(' ').at(about.includes("'s ") ? 1 : 0) ?? about, action, () => {
      wish.isKept = !tab.isDead && isOnDisk();
      wish.doneAt = worldNow();
    });
  }

  isSaidIn(conversationId: string, text: string): boolean {
    return this.said.some((one) => one.conversationId === conversationId && textsOf(one).includes(text));
  }

  /** Edits a message, deletes it for everybody, or reacts to it. */
  change(seat: Seat, tab: Tab, key: string, said: Said, wanted: MessageChange): void {
    const change = wanted.kind === 'edit' ? { ...wanted, text: this.newText(seat) } : wanted;
    const { conversationId } = said;
    const changed: Changed = { change, seat, conversationId, isKept: false, mayBeLost: false };
    said.changes.push(changed);
    this.begin(
      tab,
      change.kind,
      () => tab.actions.changeMessage(key, change),
      () => {
        changed.isKept = true;
      },
    );
  }

  /** Seconds after which a message disappears; 0 for one that stays. */
  timerOf(said: Said): number {
    return Math.max(
      0,
      ...textsOf(said).map((text) => this.timed.get(textAt(said.conversationId, text)) ?? 0),
    );
  }

  /** All that browsers were given to send, or to keep. */
  get given(): (Said | Changed | Wish)[] {
    return [...this.said.flatMap((said) => [said, ...said.changes]), ...this.wishes];
  }

  /** Marks what this browser has not sent as something that may go with it. */
  mayLose(seat: Seat, conversationId: string | null = null): void {
    for (const given of this.given) {
      if (given.seat === seat && (conversationId ?? given.conversationId) === given.conversationId)
        given.mayBeLost = true;
    }
  }

  /** Returns what notes that a browser has taken a text, and with which timer. */
  #onKept(said: Said): () => void {
    const { conversationId, seat, text } = said;
    const stored = () => storedDevice(seat.profile.indexedDB, seat.person.id);
    const timerIn = (device: StoredDevice | null) =>
      device?.conversations.find((one) => one.conversationId === conversationId)?.timer ?? 0;
    const before = timerIn(stored());
    return () => {
      said.isKept = true;
      const device = stored();
      const taken = device?.texts.get(textAt(conversationId, text));
      const fault = faultOfTimer(text, before, timerIn(device), taken);
      if (fault !== null) this.wrong.push(`${seat.profile.name}: ${fault}`);
      if (before > 0) this.count('a text that disappears is taken');
    };
  }

  #newSaid(given: Pick<Said, 'seat' | 'conversationId' | 'text'> & Partial<Said>): {
    said: Said;
    text: string;
  } {
    const said: Said = {
      isKept: false,
      mayBeLost: false,
      changes: [],
      file: null,
      isForwarded: false,
      isGivenBack: false,
      begunAt: worldNow(),
      ...given,
    };
    this.said.push(said);
    return { said, text: said.text };
  }

  newText({ person }: Seat): string {
    person.said += 1;
    return `${person.name} ${person.said}`;
  }

  get isIdle(): boolean {
    return [...this.#running].every(({ tab }) => tab.isDead);
  }

  async #signUp(name: string): Promise<void> {
    const person = new Person(name);
    this.people.push(person);
    const seat = this.newSeat(person);
    const tab = this.openTab(seat);
    const input = {
      username: name,
      email: `${name}@example.org`,
      password: person.password,
      privacyConsent: true,
    };
    await this.finish(tab, 'sign up', () => tab.actions.signUp(input));
    person.id = tab.userId ?? '';
    seat.status = 'in';
    await this.noteDevice(seat);
  }

  async #befriend(one: Person, other: Person): Promise<void> {
    const [from] = one.tabs;
    const [to] = other.tabs;
    if (from === undefined || to === undefined) throw new Error(`${one.name} or ${other.name} is not there`);
    await this.finish(from, 'ask', () => from.actions.sendContactRequest(other.id));
    const request = () =>
      to.store.get(incomingRequestsAtom).items.find(({ from_user }) => from_user.id === one.id);
    await passUntil(() => request() !== undefined, minute);
    await this.finish(to, 'accept', () => to.actions.acceptContactRequest(request()?.id ?? ''));
    const knows = (tab: Tab, id: string) =>
      tab.store.get(contactsAtom).items.some((contact) => contact.id === id);
    await passUntil(() => knows(from, other.id) && knows(to, one.id), minute);
  }

  #newLine(name: string): Line {
    const line = new Line(this.relay.relay.app, this.#network, this.trace, name);
    line.weather = fairWeather;
    return line;
  }
}

function detail(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
