import type { StoredConversation, StoredDevice } from './stored.ts';

/** An entry of the relay's log. */
interface Logged {
  readonly id: string;
  readonly seq: number;
  readonly kind: 'application' | 'commit';
}

/** A message as one tab shows it. */
interface Shown {
  /** Null while it waits. */
  readonly seq: number | null;
  readonly messageId: string;
  readonly text: string | null;
}

/** The world at one moment. */
export interface Snapshot {
  /** Browsers on which somebody is signed in. */
  readonly devices: readonly (StoredDevice & { readonly name: string })[];
  readonly logs: ReadonlyMap<string, { readonly epoch: number; readonly entries: readonly Logged[] }>;
  /** Texts that a browser has taken and may not lose, with their places. */
  readonly kept: readonly { readonly text: string; readonly name: string }[];
  readonly screens: readonly {
    readonly name: string;
    readonly conversationId: string;
    readonly messages: readonly Shown[];
  }[];
}

/**
 * The rules that hold at every moment, whatever is under way: after each step the world is compared with them, and with all that
 * was seen of it before.
 */
export class Invariants {
  /** The first device that was seen in an epoch, by conversation and epoch. */
  readonly #epochs = new Map<
    string,
    { readonly name: string; readonly secret: string; readonly agreed: string }
  >();
  readonly #members = new Map<string, readonly string[]>();
  readonly #logged = new Map<string, readonly string[]>();
  /** How often the secrets of a device were compared with those that another had in the same epoch. */
  compared = 0;

  /** @returns what does not hold, in plain words */
  faultsOf(snapshot: Snapshot): string[] {
    return [
      ...this.#logs(snapshot),
      ...snapshot.devices.flatMap((device) =>
        device.conversations.flatMap((conversation) => [
          ...this.#secrets(device.name, conversation),
          ...misread(device.name, conversation, snapshot),
          ...findings(device.name, conversation),
        ]),
      ),
      ...lost(snapshot),
      ...snapshot.screens.flatMap(doubled),
    ];
  }

  /**
   * A device that was taken out reads nothing later: of no epoch that was begun without it. The words of the epochs before are
   * its still, until the others know of it.
   * @param copy the storage as it was when its device was taken out
   * @param read what the copy opens
   */
  faultsOfCopy(
    copy: { readonly name: string; readonly deviceId: string },
    read: readonly { readonly conversationId: string; readonly epoch: number; readonly text: string }[],
  ): string[] {
    return read
      .filter(({ conversationId, epoch }) => {
        const members = this.#members.get(`${conversationId} ${epoch}`);
        return members !== undefined && !members.includes(copy.deviceId);
      })
      .map(
        ({ conversationId, text }) => `a copy of ${copy.name}'s storage reads "${text}" in ${conversationId}`,
      );
  }

  /** Same epoch, same secrets, and the same agreed on: over all devices, at any time, and whoever is where. */
  #secrets(
    name: string,
    { agreed, authenticator, conversationId, epoch, isMember, memberDeviceIds }: StoredConversation,
  ): string[] {
    if (!isMember) return [];
    const place = `${conversationId} ${epoch}`;
    const first = this.#epochs.get(place);
    if (first === undefined) {
      this.#epochs.set(place, { name, secret: authenticator, agreed });
      this.#members.set(place, memberDeviceIds);
      return [];
    }
    if (first.name !== name) this.compared += 1;
    const differing = [
      ...(first.secret === authenticator ? [] : ['secrets']),
      ...(first.agreed === agreed ? [] : ['agreements']),
    ];
    return differing.map(
      (what) => `${name} has other ${what} than ${first.name} in epoch ${epoch} of ${conversationId}`,
    );
  }

  /** Entries have their places for good, one after the other, and each id one. */
  #logs({ logs }: Snapshot): string[] {
    const wrong: string[] = [];
    for (const [id, { entries }] of logs) {
      const ids = entries.map((entry) => entry.id);
      const known = this.#logged.get(id) ?? [];
      if (known.some((entry, at) => ids[at] !== entry)) wrong.push(`entries of ${id} are gone or moved`);
      if (entries.some(({ seq }, at) => seq !== at + 1)) wrong.push(`places in ${id} are not in a row`);
      if (new Set(ids).size !== ids.length) wrong.push(`an entry is in ${id} twice`);
      this.#logged.set(id, ids);
    }
    return wrong;
  }
}

/** A device has of a log what the log has, each entry at its place, once, and as far as it has read. */
function misread(name: string, conversation: StoredConversation, { logs }: Snapshot): string[] {
  const { conversationId, epoch, isMember, joinedSeq, lastSeq, messages } = conversation;
  const log = logs.get(conversationId);
  // The relay has taken the conversation away, and the browser has not heard of it yet.
  if (log === undefined) return [];
  const where = `${name} in ${conversationId}`;
  const wrong: string[] = [];
  if (lastSeq > log.entries.length) wrong.push(`${where}: has read further than the log`);
  if (isMember && epoch > log.epoch) wrong.push(`${where}: is in an epoch that has not begun`);
  const ids = new Map(messages.map(({ messageId, seq }) => [seq, messageId]));
  if (new Set(ids.values()).size !== messages.length) wrong.push(`${where}: has a message twice`);
  for (const { messageId, seq } of messages) {
    if (log.entries[seq - 1]?.id !== messageId) wrong.push(`${where}: has another message at ${seq}`);
  }
  // Own devices tell each other more than notes.
  if (!isMember || conversationId.startsWith('self:')) return wrong;
  const lacks = log.entries.find(
    ({ kind, seq }) => kind === 'application' && seq > joinedSeq && seq <= lastSeq && !ids.has(seq),
  );
  return lacks === undefined ? wrong : [...wrong, `${where}: has read past ${lacks.seq} without it`];
}

function findings(
  name: string,
  { conversationId, findings: found, isDoubted }: StoredConversation,
): string[] {
  return [...new Set([...found, ...(isDoubted ? ['doubt'] : [])])].map(
    (what) => `a false alarm: ${name}: ${what} in ${conversationId}`,
  );
}

/** A text that a browser took stays there: with its files, in the outbox, or where the log has put it. */
function lost({ devices, kept }: Snapshot): string[] {
  const texts = new Map(devices.map((device) => [device.name, device.texts]));
  return kept
    .filter(({ name, text }) => texts.get(name)?.has(text) === false)
    .map(({ name, text }) => `${name} has lost "${text}"`);
}

/** A screen shows no message twice, and those of the log in its order. */
function doubled({ conversationId, messages, name }: Snapshot['screens'][number]): string[] {
  const wrong: string[] = [];
  const seqs = messages.flatMap(({ seq }) => seq ?? []);
  if (seqs.some((seq, at) => at > 0 && seq <= (seqs[at - 1] ?? 0)))
    wrong.push(`${name} shows ${conversationId} out of order`);
  const ids = messages.map(({ messageId }) => messageId);
  const texts = messages.flatMap(({ text }) => text ?? []);
  if (new Set(ids).size !== ids.length || new Set(texts).size !== texts.length)
    wrong.push(`${name} shows a message of ${conversationId} twice`);
  return wrong;
}
