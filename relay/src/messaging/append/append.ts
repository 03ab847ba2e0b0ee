import { randomUUID } from 'node:crypto';
import { lastSeenResolution } from '../../auth/lastSeen.ts';
import { dayOf, personQuotas } from '../../personQuotas.ts';
import type { AppendQueries } from '../../repositories/appending.ts';
import { entriesAtOnce } from '../../repositories/entriesAtOnce.ts';

// This runs on SQLite's thread too (thread.ts), so it imports nothing that loads the contract or the query builder.

/** An application message on its way into its conversation's log. */
export interface NewEntry {
  readonly conversationId: string;
  /** The other one of a direct conversation; null in a group, and among a person's own devices. */
  readonly recipientId: string | null;
  readonly messageId: string;
  /** The MLS epoch it was encrypted in. */
  readonly epoch: number;
  /** base64url of an MLSMessage. */
  readonly content: string;
  readonly senderId: string;
  readonly sessionId: string;
  /** The tag of the start that the device names; null if it names none. */
  readonly start: string | null;
}

export interface Appended {
  readonly type: 'appended';
  readonly seq: number;
  readonly epoch: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The people to deliver it to, without one who has blocked the sender; null if it had been appended before and so was delivered then. */
  readonly delivery: { readonly senderDeviceId: string; readonly userIds: readonly string[] } | null;
}

export interface AppendRefused {
  readonly type: 'refused';
  readonly code:
    | 'session-expired'
    | 'recovery-session'
    | 'device-required'
    | 'not-a-contact'
    | 'no-such-person'
    | 'no-such-conversation'
    | 'message-id-taken'
    | 'another-start'
    | 'quota'
    | 'quota-of-day'
    | 'stale-epoch';
  /** With stale-epoch the current one; 0 says that the conversation has yet to be started, by a commit. */
  readonly epoch?: number;
}

export type AppendOutcome = Appended | AppendRefused;

/**
 * Decides on messages and stores those that may be, all inside one transaction: whether the session lives, whether the
 * sender may write there and whether the epoch is current are asked where nothing can change before the commit.
 * @param now milliseconds since the epoch
 */
export async function appendAll(
  queries: AppendQueries,
  batch: readonly NewEntry[],
  now: number,
): Promise<AppendOutcome[]> {
  const decisions = new Decisions(queries, now);
  const outcomes: AppendOutcome[] = [];
  let left = batch.map((entry, index) => ({ entry, index }));
  while (left.length > 0) {
    // A message that repeats another of the batch is decided on after that one has been stored, or refused.
    const ids = new Set<string>();
    const [round, repeats]: [typeof left, typeof left] = [[], []];
    for (const item of left) {
      (ids.has(item.entry.messageId) ? repeats : round).push(item);
      ids.add(item.entry.messageId);
    }
    const decided = await decisions.appendDistinct(round.map(({ entry }) => entry));
    round.forEach(({ index }, position) => {
      outcomes[index] = decided[position] as AppendOutcome;
    });
    left = repeats;
  }
  return outcomes;
}

interface Permitted {
  readonly senderDeviceId: string;
  readonly userIds: readonly string[];
}

interface SendingDevice {
  readonly id: string;
  /** The tag of the start that it has registered last; null if it has registered none. */
  readonly start: string | null;
}

type Decision = Permitted | AppendOutcome;

const isPermitted = (decision: Decision): decision is Permitted => !('type' in decision);

const refused = (code: AppendRefused['code']): AppendRefused => ({ type: 'refused', code });

class Decisions {
  readonly #queries: AppendQueries;
  readonly #now: number;
  /** Answers that hold for the whole transaction, by what was asked. */
  readonly #devices = new Map<string, SendingDevice | AppendRefused>();
  readonly #audiences = new Map<string, readonly string[] | AppendRefused>();

  constructor(queries: AppendQueries, now: number) {
    this.#queries = queries;
    this.#now = now;
  }

  /** @param entries no two of them with one id */
  async appendDistinct(entries: readonly NewEntry[]): Promise<AppendOutcome[]> {
    const known = await this.#findKnown(entries);
    const decisions: Decision[] = [];
    for (const entry of entries) decisions.push(await this.#decide(entry, known.get(entry.messageId)));
    await this.#count(entries, decisions);
    const seqs = await this.#takeSeqs(entries, decisions);
    await this.#uncount(entries, decisions, seqs);
    const outcomes: AppendOutcome[] = [];
    const notified = new Map<string, NewEntry>();
    for (const [index, entry] of entries.entries()) {
      const decision = decisions[index] as Decision;
      if (!isPermitted(decision)) {
        outcomes.push(decision);
        continue;
      }
      const seq = seqs[index];
      if (seq === undefined) {
        outcomes.push(await this.#stale(entry));
        continue;
      }
      await this.#insert(entry, seq, decision.senderDeviceId);
      const { recipientId } = entry;
      if (recipientId !== null && decision.userIds.includes(recipientId)) {
        notified.set(`${recipientId} ${entry.senderId}`, entry);
      }
      outcomes.push({
        type: 'appended',
        seq,
        epoch: entry.epoch,
        createdAt: this.#now,
        delivery: decision,
      });
    }
    for (const { recipientId, senderId } of notified.values()) {
      if (recipientId !== null) await this.#notify(recipientId, senderId);
    }
    return outcomes;
  }

  /** Finds the stored entries that have the ids of these, by id. */
  async #findKnown(entries: readonly NewEntry[]): Promise<ReadonlyMap<string, KnownEntry>> {
    const known = new Map<string, KnownEntry>();
    for (let start = 0; start < entries.length; start += entriesAtOnce) {
      const ids = entries.slice(start, start + entriesAtOnce).map((entry) => entry.messageId);
      for (const row of await this.#askForEntries(ids)) known.set(row.id, row);
    }
    return known;
  }

  #askForEntries(ids: readonly string[]): Promise<KnownEntry[]> {
    const [first = ''] = ids;
    if (ids.length === 1) return this.#queries.entry({ id: first });
    const padded: Record<string, string> = {};
    for (let position = 0; position < entriesAtOnce; position += 1) padded[position] = ids[position] ?? first;
    return this.#queries.entries(padded);
  }

  async #decide(entry: NewEntry, known: KnownEntry | undefined): Promise<Decision> {
    const device = await this.#deviceOf(entry);
    if ('type' in device) return device;
    const { id: senderDeviceId, start } = device;
    // A copy of the device's data, or what it was before, may be under the same keys.
    if (start !== null && start !== entry.start) return refused('another-start');
    // Asked before anything else: a repeat answers as the first did, even if the two are no longer contacts.
    if (known !== undefined && isRepeat(known, entry)) return repeated(known);
    const userIds = await this.#audienceOf(entry);
    if (!Array.isArray(userIds)) return userIds as AppendRefused;
    if (known !== undefined) return refused('message-id-taken');
    return { senderDeviceId, userIds };
  }

  async #deviceOf({ sessionId, senderId }: NewEntry): Promise<SendingDevice | AppendRefused> {
    const known = this.#devices.get(sessionId);
    if (known !== undefined) return known;
    const device = await this.#findDevice(sessionId, senderId);
    this.#devices.set(sessionId, device);
    return device;
  }

  async #findDevice(sessionId: string, userId: string): Promise<SendingDevice | AppendRefused> {
    const now = this.#now;
    const [session] = await this.#queries.session({ id: sessionId, userId, now });
    if (session === undefined) return refused('session-expired');
    if (session.purpose === 'recovery') return refused('recovery-session');
    const { device_id: id, last_seen_at: lastSeenAt, start_tag: start } = session;
    if (id === null) return refused('device-required');
    if (lastSeenAt !== null && now - lastSeenAt >= lastSeenResolution) {
      await this.#queries.touchDevice({ id, now });
    }
    return { id, start };
  }

  async #audienceOf(entry: NewEntry): Promise<readonly string[] | AppendRefused> {
    const key = `${entry.conversationId} ${entry.senderId}`;
    const known = this.#audiences.get(key);
    if (known !== undefined) return known;
    const audience = await this.#findAudience(entry);
    this.#audiences.set(key, audience);
    return audience;
  }

  async #findAudience(entry: NewEntry): Promise<readonly string[] | AppendRefused> {
    const { conversationId, recipientId, senderId } = entry;
    if (recipientId === null) {
      const participants = await this.#queries.participants({ conversationId });
      const userIds = participants.map((row) => row.user_id);
      return userIds.includes(senderId) ? userIds : refused('no-such-conversation');
    }
    const [contact] = await this.#queries.contact({ userId: senderId, otherId: recipientId });
    if (contact !== undefined) {
      if (contact.blocks !== null) return refused('not-a-contact');
      // Numbered and acknowledged as any other, so that the sender can't tell.
      return contact.blocked_by === null ? [senderId, recipientId] : [senderId];
    }
    const people = await this.#queries.user({ id: recipientId });
    return refused(people.length > 0 ? 'not-a-contact' : 'no-such-person');
  }

  /** Counts what each sender is about to store, and refuses those who would have too much. */
  async #count(entries: readonly NewEntry[], decisions: Decision[]): Promise<void> {
    const isCounted = (index: number) => isPermitted(decisions[index] as Decision);
    for (const [userId, storing] of storingBySender(entries, isCounted)) {
      const over = await this.#store(userId, storing, leastRoom(entries, userId));
      if (over !== null) await this.#countEach(userId, entries, decisions);
    }
  }

  /** Counts one by one what a sender stores, so that those that fit are taken. */
  async #countEach(userId: string, entries: readonly NewEntry[], decisions: Decision[]): Promise<void> {
    for (const [index, entry] of entries.entries()) {
      if (entry.senderId !== userId || !isPermitted(decisions[index] as Decision)) continue;
      const over = await this.#store(userId, { bytes: bytesOf(entry), entries: 1 }, roomFor(entry));
      if (over !== null) decisions[index] = refused(over);
    }
  }

  /** Counts what a person stores, unless it is too much. @returns which quota it would be beyond; null if it was counted */
  async #store(userId: string, storing: Stored, room: Stored): Promise<'quota' | 'quota-of-day' | null> {
    const day = dayOf(this.#now);
    const [stored] = await this.#queries.store({ userId, day, ...storing });
    if (stored === undefined || (stored.bytes <= room.bytes && stored.entries <= room.entries)) return null;
    await this.#takeBack(userId, storing);
    return stored.bytes > room.bytes ? 'quota' : 'quota-of-day';
  }

  async #takeBack(userId: string, { bytes, entries }: Stored): Promise<void> {
    await this.#queries.store({ userId, day: dayOf(this.#now), bytes: -bytes, entries: -entries });
  }

  /** Takes back the count of those that have got no position. */
  async #uncount(
    entries: readonly NewEntry[],
    decisions: readonly Decision[],
    seqs: readonly (number | undefined)[],
  ): Promise<void> {
    const isStale = (index: number) => isPermitted(decisions[index] as Decision) && seqs[index] === undefined;
    for (const [userId, storing] of storingBySender(entries, isStale)) await this.#takeBack(userId, storing);
  }

  /** Positions of those that are permitted and of the current epoch, by index; one question for each conversation. */
  async #takeSeqs(
    entries: readonly NewEntry[],
    decisions: readonly Decision[],
  ): Promise<(number | undefined)[]> {
    const together = new Map<string, { id: string; epoch: number; indexes: number[] }>();
    for (const [index, { conversationId: id, epoch }] of entries.entries()) {
      if (!isPermitted(decisions[index] as Decision)) continue;
      const key = `${epoch} ${id}`;
      const group = together.get(key) ?? { id, epoch, indexes: [] };
      group.indexes.push(index);
      together.set(key, group);
    }
    const seqs: (number | undefined)[] = [];
    for (const { id, epoch, indexes } of together.values()) {
      const count = indexes.length;
      const [taken] = await this.#queries.takeSeqs({ id, epoch, count });
      if (taken === undefined) continue;
      for (const [offset, index] of indexes.entries()) seqs[index] = taken.last_seq - count + 1 + offset;
    }
    return seqs;
  }

  async #stale(entry: NewEntry): Promise<AppendOutcome> {
    // The first of two repeats may have been stored since, and the epoch have moved.
    const [arrived] = await this.#queries.entry({ id: entry.messageId });
    if (arrived !== undefined && isRepeat(arrived, entry)) return repeated(arrived);
    const [conversation] = await this.#queries.epoch({ id: entry.conversationId });
    return { ...refused('stale-epoch'), epoch: conversation?.epoch ?? 0 };
  }

  async #insert(entry: NewEntry, seq: number, senderDeviceId: string): Promise<void> {
    await this.#queries.insertEntry({
      conversationId: entry.conversationId,
      seq,
      id: entry.messageId,
      kind: 'application',
      epoch: entry.epoch,
      senderId: entry.senderId,
      senderDeviceId,
      content: Buffer.from(entry.content, 'base64url'),
      createdAt: this.#now,
    });
  }

  async #notify(userId: string, senderId: string): Promise<void> {
    const now = this.#now;
    await this.#queries.insertNotification({ id: randomUUID(), type: 'message', userId, senderId, now });
  }
}

/** Bytes of content, and entries: what is stored, or what may be. */
interface Stored {
  readonly bytes: number;
  readonly entries: number;
}

/**
 * The most that a sender may have stored with this entry: bytes that are kept, and entries of the day. Devices acknowledge
 * nothing in their own conversation, and tell each other every draft there: within weeks that could keep a person from writing
 * to anybody.
 */
const roomFor = ({ conversationId, senderId }: NewEntry): Stored =>
  conversationId === `self:${senderId}`
    ? { bytes: personQuotas.storedBytesForOwnDevices, entries: personQuotas.entriesADayForOwnDevices }
    : { bytes: personQuotas.storedBytesPerUser, entries: personQuotas.entriesADay };

/** The least room that any of a sender's entries has. */
function leastRoom(entries: readonly NewEntry[], userId: string): Stored {
  const rooms = entries.filter(({ senderId }) => senderId === userId).map(roomFor);
  return {
    bytes: Math.min(...rooms.map(({ bytes }) => bytes)),
    entries: Math.min(...rooms.map((room) => room.entries)),
  };
}

/** Bytes of an entry's content. */
const bytesOf = ({ content }: Pick<NewEntry, 'content'>) => Buffer.byteLength(content, 'base64url');

/** Some of the entries by sender, and the bytes of their content, in one order: two batches must not wait for each other. */
function storingBySender(
  entries: readonly NewEntry[],
  isCounted: (index: number) => boolean,
): [senderId: string, storing: Stored][] {
  const storing = new Map<string, Stored>();
  for (const [index, entry] of entries.entries()) {
    if (!isCounted(index)) continue;
    const { bytes, entries: count } = storing.get(entry.senderId) ?? { bytes: 0, entries: 0 };
    storing.set(entry.senderId, { bytes: bytes + bytesOf(entry), entries: count + 1 });
  }
  return [...storing].sort(([one], [other]) => (one < other ? -1 : 1));
}

interface KnownEntry {
  readonly id: string;
  readonly conversation_id: string;
  readonly sender_id: string;
  readonly kind: string;
  readonly seq: number;
  readonly epoch: number;
  readonly created_at: number;
}

const isRepeat = (known: KnownEntry, { conversationId, senderId }: NewEntry) =>
  known.kind === 'application' && known.conversation_id === conversationId && known.sender_id === senderId;

const repeated = ({ seq, epoch, created_at: createdAt }: KnownEntry): Appended => ({
  type: 'appended',
  seq,
  epoch,
  createdAt,
  delivery: null,
});
