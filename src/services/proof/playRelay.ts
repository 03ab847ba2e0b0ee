import type { CommitSubmission, LogEntryInput, ReadyMessage } from '../../crypto/client.ts';
import { bytesOf, textOf } from '../../net/base64url.ts';

export interface Sender {
  readonly userId: string;
  readonly deviceId: string;
}

interface Welcome {
  readonly deviceIds: readonly string[];
  readonly epoch: number;
  readonly seq: number;
  readonly welcome: string;
}

const encoder = new TextEncoder();
const label = encoder.encode('Sinetti 1.0 Log Entry');

/**
 * The relay of the play: it numbers the entries of one conversation, lets one commit end each epoch, and hands out Welcomes. It
 * has no key, like the real one. What it shows somebody may be another log than its own.
 */
export class PlayRelay {
  readonly conversationId: string;
  /** The log as it was sent. */
  entries: LogEntryInput[] = [];
  /** The log that somebody is shown in its place, by user id. */
  readonly shown = new Map<string, LogEntryInput[]>();
  readonly #keyPackages = new Map<string, { readonly userId: string; readonly keyPackages: string[] }>();
  #welcomes: Welcome[] = [];
  #epoch = 0;

  constructor(conversationId: string) {
    this.conversationId = conversationId;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Lets go of the conversation. */
  forget(): void {
    this.entries = [];
    this.shown.clear();
    this.#welcomes = [];
    this.#epoch = 0;
  }

  publish({ userId, deviceId }: Sender, keyPackages: readonly string[]): void {
    this.#keyPackages.set(deviceId, { userId, keyPackages: [...keyPackages] });
  }

  /** One KeyPackage of every device of these people. The last one of a device is handed out again and again. */
  claim(userIds: readonly string[]) {
    return [...this.#keyPackages].flatMap(([deviceId, { keyPackages, userId }]) => {
      const keyPackage = keyPackages.length > 1 ? keyPackages.shift() : keyPackages[0];
      return userIds.includes(userId) && keyPackage !== undefined ? [{ userId, deviceId, keyPackage }] : [];
    });
  }

  /** Takes a commit. @returns false if another one came first */
  submit(sender: Sender, { commit, epoch, welcomes }: CommitSubmission): boolean {
    if (epoch !== this.#epoch) return false;
    const { seq } = this.append(sender, { kind: 'commit', epoch, content: commit });
    this.#epoch += 1;
    for (const { deviceIds, welcome } of welcomes) {
      this.#welcomes.push({ deviceIds, epoch: this.#epoch, seq, welcome });
    }
    return true;
  }

  /** Takes a message, once. @returns null if it is of another epoch */
  send(sender: Sender, { content, epoch, messageId }: ReadyMessage): LogEntryInput | null {
    const known = this.entries.find(({ id }) => id === messageId);
    if (known !== undefined) return known;
    return epoch === this.#epoch
      ? this.append(sender, { id: messageId, kind: 'application', epoch, content })
      : null;
  }

  append(
    { deviceId, userId }: Sender,
    entry: Pick<LogEntryInput, 'kind' | 'epoch' | 'content'> & { readonly id?: string },
  ): LogEntryInput {
    const stored = {
      id: crypto.randomUUID(),
      ...entry,
      seq: this.entries.length + 1,
      sender_id: userId,
      sender_device_id: deviceId,
      timestamp: new Date().toISOString(),
    };
    this.entries.push(stored);
    // The entries to come are shown behind whatever was shown before.
    for (const log of this.shown.values()) log.push({ ...stored, seq: log.length + 1 });
    return stored;
  }

  /** Shows somebody another log than there is, numbered as it has to be. */
  show(userId: string, log: readonly LogEntryInput[]): void {
    this.shown.set(
      userId,
      log.map((entry, at) => ({ ...entry, seq: at + 1 })),
    );
  }

  entriesFor(userId: string, after: number): LogEntryInput[] {
    return (this.shown.get(userId) ?? this.entries).filter(({ seq }) => seq > after);
  }

  /** The Welcome for a device, handed out once. */
  takeWelcome(deviceId: string): Welcome | null {
    const welcome = this.#welcomes.find(({ deviceIds }) => deviceIds.includes(deviceId)) ?? null;
    this.#welcomes = this.#welcomes.filter((one) => one !== welcome);
    return welcome;
  }

  /** The digests of what somebody is shown (PROTOCOL section 10), as a relay keeps them of entries that it has deleted. */
  async digestsFor(userId: string, after: number): Promise<{ seq: number; digest: string }[]> {
    return Promise.all(
      this.entriesFor(userId, after).map(async (entry) => ({
        seq: entry.seq,
        digest: await textOf(await this.#digestOf(entry)),
      })),
    );
  }

  async #digestOf({ content, epoch, id, kind, sender_device_id, sender_id, seq }: LogEntryInput) {
    return sha256(
      ...opaque(label),
      ...opaque(encoder.encode(this.conversationId)),
      number64(seq),
      Uint8Array.of(kind === 'application' ? 1 : 3),
      number64(epoch),
      ...[id, sender_id, sender_device_id].flatMap((text) => opaque(encoder.encode(text))),
      await sha256(await bytesOf(content)),
    );
  }
}

async function sha256(...parts: readonly Uint8Array<ArrayBuffer>[]): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await new Blob([...parts]).arrayBuffer();
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/** Bytes behind their length, as RFC 9420 section 2.1.2 writes it; none here is longer than 16,383. */
function opaque(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const { length } = bytes;
  const header = length < 64 ? [length] : [0x40 | (length >> 8), length & 0xff];
  return [Uint8Array.from(header), bytes];
}

function number64(value: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}
