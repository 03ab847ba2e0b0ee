import type { CryptoApi, ReadyMessage } from '../../crypto/client.ts';
import type { PlayerScreen } from '../../store/proof.ts';
import type { PlayRelay } from './playRelay.ts';

/** The newest suite, which the product's own browsers talk in. */
const suite = 0xf04d;

/** The page of a browser, for somebody in the play; all that matters is done by their worker. */
export class Player {
  readonly api: CryptoApi;
  readonly userId: string;
  readonly peerId: string;
  readonly deviceId: string;
  /** The word of the account key for the device, as the relay hands it out. */
  readonly certificate: string;
  readonly #relay: PlayRelay;

  private constructor(
    api: CryptoApi,
    relay: PlayRelay,
    peerId: string,
    device: { readonly userId: string; readonly deviceId: string; readonly certificate: string },
  ) {
    this.api = api;
    this.#relay = relay;
    this.peerId = peerId;
    this.userId = device.userId;
    this.deviceId = device.deviceId;
    this.certificate = device.certificate;
  }

  /** Signs somebody up, with a password that nobody knows. */
  static async signUp(api: CryptoApi, relay: PlayRelay, userId: string, peerId: string): Promise<Player> {
    await api.beginSignUp(crypto.randomUUID());
    await api.openVault(userId, { ...(await api.createVault(userId)), version: 1 });
    const player = new Player(api, relay, peerId, await api.openDevice());
    const due = await api.adoptState(null, true);
    if (due !== null) await api.adoptState(due);
    const { keyPackages } = await api.createKeyPackages(40, false, suite);
    relay.publish(player, keyPackages);
    await api.forgetVault();
    return player;
  }

  /** Starts the conversation. */
  async start(): Promise<void> {
    const { conversationId } = this.#relay;
    const keyPackages = this.#relay.claim([this.peerId]);
    this.#relay.submit(this, await this.api.startConversation({ conversationId, keyPackages }));
    await this.read();
  }

  /** Reads all that the relay shows. */
  async read(): Promise<void> {
    const { conversationId } = this.#relay;
    const welcome = this.#relay.takeWelcome(this.deviceId);
    if (welcome !== null) {
      const { epoch, seq } = welcome;
      await this.api.joinByWelcome({ conversationId, epoch, seq, welcome: welcome.welcome, tree: null });
    }
    await this.#link();
    const { lastSeq } = await this.api.conversation(conversationId);
    await this.api.processEntries(conversationId, this.#relay.entriesFor(this.userId, lastSeq));
    await this.#link();
  }

  async #link(): Promise<void> {
    const { conversationId } = this.#relay;
    const { linkFrom } = await this.api.conversation(conversationId);
    if (linkFrom === null) return;
    await this.api.linkLog(conversationId, await this.#relay.digestsFor(this.userId, linkFrom));
  }

  /** Writes a message. @returns false where it waits, since something was found */
  async write(text: string): Promise<boolean> {
    const { conversationId } = this.#relay;
    const messageId = crypto.randomUUID();
    await this.api.queueMessage({ conversationId, messageId, text, sentAt: new Date().toISOString() });
    // A commit may be due before it, once an epoch has gone on for long.
    for (;;) {
      const prepared = await this.api.prepareMessage(messageId);
      if (prepared.kind === 'sent') return true;
      if (prepared.kind === 'outside') return false;
      if (prepared.kind === 'commit') this.#relay.submit(this, prepared.submission);
      if (prepared.kind === 'message' && (await this.#send(prepared))) return true;
      await this.read();
    }
  }

  async #send(ready: ReadyMessage): Promise<boolean> {
    const accepted = this.#relay.send(this, ready);
    if (accepted === null) return false;
    const { seq, timestamp } = accepted;
    await this.api.messageAccepted(ready.messageId, { seq, timestamp });
    return true;
  }

  /** Reads all that the person sees. */
  async screen(): Promise<PlayerScreen> {
    const { conversationId } = this.#relay;
    const [state, messages, waiting, events, trust] = await Promise.all([
      this.api.conversation(conversationId),
      this.api.messages(conversationId, { limit: 50 }),
      this.api.outbox(conversationId),
      this.api.events(conversationId),
      this.api.contactTrust(),
    ]);
    const seen = new Set(messages.map(({ messageId }) => messageId));
    return {
      userId: this.userId,
      messages: [...messages, ...waiting.filter(({ messageId }) => !seen.has(messageId))],
      events,
      keyOffered: trust.some(({ userId, keyOffered }) => userId === this.peerId && keyOffered),
      isDoubted: state.isDoubted,
    };
  }
}
