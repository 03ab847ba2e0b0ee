/**
 * A small world in which the visitor is the relay. Anna and Bert are each an instance of the script that holds keys; the relay
 * is of this page, has no key, and plays its tricks with what it has: the bytes, their order, and what it says of people's devices.
 */
import type { CryptoApi, LogEntryInput } from '../../crypto/client.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { bytesOf, textOf } from '../../net/base64url.ts';
import type { Play, PlayEntry, PlayerName, PlayerScreen, PlayState, Trick } from '../../store/proof.ts';
import { Player } from './player.ts';
import { PlayRelay } from './playRelay.ts';

export const annaId = 'a0000000-0000-4000-8000-000000000001';
export const bertId = 'b0000000-0000-4000-8000-000000000002';

/** Bytes of an entry that are shown: its last ones, since each begins alike. */
const shownBytes = 12;

export class World implements Play {
  readonly #relay: PlayRelay;
  readonly #anna: Player;
  readonly #bert: Player;
  readonly #openRoom: () => CryptoApi;
  readonly #texts: readonly string[];
  /** The relay's own device in Bert's name, once it has made one. */
  #impostor: Player | null = null;
  #isBegun = false;

  private constructor(
    relay: PlayRelay,
    people: readonly [Player, Player],
    openRoom: () => CryptoApi,
    texts: readonly string[],
  ) {
    this.#relay = relay;
    [this.#anna, this.#bert] = people;
    this.#openRoom = openRoom;
    this.#texts = texts;
  }

  /**
   * Signs Anna and Bert up.
   * @param openRoom starts an instance of the script that holds keys
   * @param texts what they say, by turns
   */
  static async create(openRoom: () => CryptoApi, texts: readonly string[]): Promise<World> {
    const relay = new PlayRelay(`direct:${annaId}:${bertId}`);
    const people = await Promise.all([
      Player.signUp(openRoom(), relay, annaId, bertId),
      Player.signUp(openRoom(), relay, bertId, annaId),
    ]);
    return new World(relay, people, openRoom, texts);
  }

  async play(trick: Trick | null): Promise<PlayState> {
    await this.#begin();
    if (trick !== null) await this.#tricks[trick]();
    return this.#state();
  }

  #text(at: number): string {
    return this.#texts[at % this.#texts.length] ?? '';
  }

  /** Begins the conversation anew, and has each say something. */
  async #begin(): Promise<void> {
    const { conversationId } = this.#relay;
    if (this.#isBegun) {
      await this.#settleKey();
      for (const { api } of [this.#anna, this.#bert]) await api.forgetConversation(conversationId);
      this.#relay.forget();
    }
    this.#isBegun = true;
    await this.#anna.start();
    await this.#bert.read();
    await this.#anna.write(this.#text(0));
    await this.#bert.read();
    await this.#bert.write(this.#text(1));
    await this.#bert.read();
    await this.#anna.read();
  }

  /** Anna keeps the key that she has, so that the next play begins as the first one did. */
  async #settleKey(): Promise<void> {
    if (!(await this.#anna.screen()).keyOffered) return;
    const { offered } = await this.#anna.api.safetyNumbers(bertId);
    if (offered !== null) await this.#anna.api.refuseAccountKey(bertId, offered);
  }

  readonly #tricks: Readonly<Record<Trick, () => Promise<void>>> = {
    drop: () => this.#lieOfTwo(([, second]) => [second]),
    swap: () => this.#lieOfTwo(([first, second]) => [second, first]),
    replay: () => this.#lieOfTwo(([first, second]) => [first, { ...first, id: crypto.randomUUID() }, second]),
    alter: () => this.#lieOfTwo(async ([first, second]) => [await withOtherByte(first), second]),

    /** In the place of Bert's device the relay names one that it has made itself. */
    key: async () => {
      const { certificate } = await this.#impostorOfBert();
      await this.#anna.api.observeDevices(bertId, [certificate]);
      await this.#tryToWrite(this.#anna, this.#text(4));
    },

    /** A change to the conversation by which a device that the relay says is Bert's would come in. */
    device: async () => {
      const impostor = await this.#impostorOfBert();
      const { conversationId, epoch } = this.#relay;
      const keyPackages = this.#relay.claim([annaId]);
      const { commit } = await impostor.api.startConversation({ conversationId, keyPackages });
      const content = await withEpoch(commit, conversationId, epoch);
      this.#relay.append(impostor, { kind: 'commit', epoch, content });
      await impostor.api.forgetConversation(conversationId);
      await this.#anna.read();
    },

    /** Anna is shown the log as it was before what she has read last, and how it goes on from there. */
    rollback: async () => {
      await this.#bert.write(this.#text(2));
      await this.#bert.read();
      await this.#anna.read();
      this.#relay.show(annaId, this.#relay.entries.slice(0, -1));
      for (const at of [3, 4]) {
        await this.#bert.write(this.#text(at));
        await this.#bert.read();
      }
      await this.#anna.read();
    },
  };

  /** Bert writes twice, and Anna is shown something else; then he writes once more. */
  async #lieOfTwo(
    shown: (messages: [LogEntryInput, LogEntryInput]) => LogEntryInput[] | Promise<LogEntryInput[]>,
  ): Promise<void> {
    for (const at of [2, 3]) await this.#bert.write(this.#text(at));
    const { entries } = this.#relay;
    const [first, second] = entries.slice(-2);
    if (first === undefined || second === undefined) throw new Error('nothing was written');
    this.#relay.show(annaId, [...entries.slice(0, -2), ...(await shown([first, second]))]);
    await this.#anna.read();
    await this.#bert.read();
    await this.#bert.write(this.#text(4));
    await this.#anna.read();
  }

  /** Something that is found meanwhile keeps the message waiting. */
  async #tryToWrite(player: Player, text: string): Promise<void> {
    try {
      await player.write(text);
    } catch (error) {
      if (errorCode(error) !== 'identity-changed') throw error;
    }
  }

  async #impostorOfBert(): Promise<Player> {
    // It keeps what it publishes to itself: nobody but the relay asks for it.
    this.#impostor ??= await Player.signUp(
      this.#openRoom(),
      new PlayRelay(this.#relay.conversationId),
      bertId,
      annaId,
    );
    return this.#impostor;
  }

  async #state(): Promise<PlayState> {
    const [anna, bert] = await Promise.all([this.#anna.screen(), this.#bert.screen()]);
    const screens = { anna, bert };
    const names = Object.keys(screens) as PlayerName[];
    return {
      log: await Promise.all(this.#relay.entries.map((entry) => this.#shownEntry(entry))),
      screens,
      noticedBy: names.filter((name) => hasNoticed(screens[name])),
    };
  }

  async #shownEntry({ content, kind, sender_device_id, seq }: LogEntryInput): Promise<PlayEntry> {
    const bytes = await bytesOf(content);
    const from =
      sender_device_id === this.#anna.deviceId
        ? 'anna'
        : sender_device_id === this.#bert.deviceId
          ? 'bert'
          : 'relay';
    return { seq, from, kind, length: bytes.length, end: await textOf(bytes.subarray(-shownBytes)) };
  }
}

/** Anything that a screen says beside messages counts, and messages that could not be read. */
function hasNoticed({ events, isDoubted, keyOffered, messages }: PlayerScreen): boolean {
  return (
    keyOffered ||
    isDoubted ||
    events.some(({ change }) => ['missing', 'diverged', 'refused', 'withheld'].includes(change.kind)) ||
    messages.some(({ content }) => content.kind === 'undecryptable')
  );
}

async function withOtherByte(entry: LogEntryInput): Promise<LogEntryInput> {
  const bytes = await bytesOf(entry.content);
  const at = bytes.length - 20;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return { ...entry, content: await textOf(bytes) };
}

/** An MLS message begins with version and wire format, the group id behind its length in two bytes, and the epoch (RFC 9420 section 6). */
async function withEpoch(message: string, groupId: string, epoch: number): Promise<string> {
  const bytes = await bytesOf(message);
  new DataView(bytes.buffer).setBigUint64(2 + 2 + 2 + groupId.length, BigInt(epoch));
  return textOf(bytes);
}
