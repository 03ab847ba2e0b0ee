import { cheapPasswordKeys } from '#tests/support/headlessBrowser.ts';
import { Typist } from '#tests/support/typist.ts';
import type { CryptoApi } from '#workers/api/cryptoApi.ts';
import { createCryptoApi } from '#workers/entry/createCryptoApi.ts';
import { Random } from '../seams/random.ts';
import { worldNow } from '../seams/time.ts';
import { ProfileLocks } from './disk.ts';
import type { LogOfRelay } from './log.ts';
import { storedDevice } from './stored.ts';

/** A message of somebody else, as the copy opens it. */
interface Stolen {
  readonly conversationId: string;
  readonly epoch: number;
  readonly text: string;
}

/** Storage that was copied when its device was taken out: nothing later may be read with it. */
export class Thief {
  readonly userId: string;
  readonly name: string;
  /** The conversation that the device was taken out of; null for all. */
  readonly conversationId: string | null;
  readonly deviceId: string | null;
  readonly stolen: Stolen[] = [];
  readonly #storage: IDBFactory;
  /** Undefined before the first look; null where the copy opens nothing. */
  #crypto: CryptoApi | null | undefined;
  readonly #given = new Map<string, number>();

  constructor(userId: string, name: string, storage: IDBFactory, conversationId: string | null) {
    this.userId = userId;
    this.name = name;
    this.conversationId = conversationId;
    this.deviceId = storedDevice(storage, userId)?.deviceId ?? null;
    this.#storage = storage;
  }

  /** Tries to read what was added to the logs since the last time. @returns what it could */
  async read(logs: readonly LogOfRelay[]): Promise<readonly Stolen[]> {
    if (this.#crypto === undefined) this.#crypto = await this.#open();
    const crypto = this.#crypto;
    const before = this.stolen.length;
    for (const { entries, id, lastSeq } of logs) {
      const isOpen = crypto !== null && id === (this.conversationId ?? id) && this.#given.get(id) !== lastSeq;
      if (!isOpen) continue;
      this.#given.set(id, lastSeq);
      const own = await crypto.conversation(id);
      if (own.status !== 'joined') continue;
      const later = entries.filter(({ seq }) => seq > own.lastSeq);
      const messages = await crypto.processEntries(id, later).then(
        (result) => result.messages,
        () => [],
      );
      for (const { content, messageId, senderId } of messages) {
        const epoch = later.find((entry) => entry.id === messageId)?.epoch;
        if (content.kind === 'text' && senderId !== this.userId && epoch !== undefined)
          this.stolen.push({ conversationId: id, epoch, text: content.text });
      }
    }
    return this.stolen.slice(before);
  }

  async end(): Promise<void> {
    await this.#crypto?.lock();
  }

  /** @returns null where the copy opens nothing: nobody was signed in */
  async #open(): Promise<CryptoApi | null> {
    const random = new Random(`${this.name}/copy`);
    const crypto = createCryptoApi({
      // Its own randomness, so that a run is the same with and without somebody who looks.
      env: { random: (length) => new Uint8Array(random.bytes(length)), now: worldNow },
      indexedDB: this.#storage,
      locks: new ProfileLocks().of(Symbol('thief')),
      subtle: globalThis.crypto.subtle,
      monotonic: worldNow,
      storage: { persisted: async () => false },
      prompt: new Typist().newPrompt(),
      DANGEROUS_passwordKeysForTesting: cheapPasswordKeys,
    });
    return (await crypto.resume(this.userId)) ? crypto : null;
  }
}
