/** Events: what a log shows beside messages, such as people added or removed, refused commits and rejoins. */

import type { Env } from '@sinetti/crypto-core';
import { ConversationId, check } from '../api/arguments.ts';
import type { ConversationChange, ConversationEvent, CryptoApi, LogEntryInput } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import type { Agreed } from '../storage/agreedRecord.ts';
import { read, type Transaction, withinConversation } from '../storage/db.ts';
import { EventRecord } from '../storage/eventRecord.ts';
import type { MembersRecord } from '../storage/records.ts';
import { sealingKey } from '../storage/sealer.ts';
import type { ConversationTransaction } from './conversationTransaction.ts';
import type { Differing } from './logLink.ts';
import type { MlsGroup } from './mlsGroup.ts';
import { isSamePinned } from './rules/agreed.ts';

export function createEvents(session: Session) {
  return {
    async events(id) {
      const conversationId = check('events', ConversationId, id);
      const account = session.account();
      return read(account.db, (tx) => readEvents(tx, account, conversationId));
    },
  } satisfies Partial<CryptoApi>;
}

/** Reads the events of a conversation, ascending. */
export async function readEvents(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
): Promise<ConversationEvent[]> {
  const store = tx.objectStore('events');
  const within = withinConversation(conversationId);
  const [keys, rows] = await Promise.all([store.getAllKeys(within), store.getAll(within)]);
  return rows.flatMap((row, i) => {
    const seq = keys[i]?.[1];
    return seq === undefined ? [] : [openEvent(account, conversationId, seq, row)];
  });
}

/** Returns whether an event says that logs differ, or that the relay keeps back what it has. */
export function isFinding({ change: { kind } }: Pick<ConversationEvent, 'change'>): boolean {
  return kind === 'missing' || kind === 'withheld' || kind === 'diverged';
}

/**
 * Compares the members before and after a commit that took effect. Null where there is nothing to tell: this
 * person's own arrival is no event, and a direct conversation always has the same two people.
 * @param before the members as this device knew them, null for a device that was outside; and what was agreed
 * @param hasRejoined this device had forked, and comes back by this commit
 */
export function changeOf(
  before: { readonly members: MembersRecord | null } & Agreed,
  state: MlsGroup,
  { isGroup, account, conversation }: Pick<ConversationTransaction, 'isGroup' | 'account' | 'conversation'>,
  hasRejoined: boolean,
): KeptChange | null {
  const [were, are] = [peopleOf(before.members ?? []), peopleOf(state.members())];
  const isCompared = isGroup && were.has(account.userId);
  const added = isCompared ? [...are].filter((userId) => !were.has(userId)) : [];
  const removed = isCompared ? [...were].filter((userId) => !are.has(userId)) : [];
  if (hasRejoined) return { kind: 'rejoined', added, removed };
  if (added.length + removed.length > 0) return { kind: 'members', added, removed };
  if (before.members === null) return null;
  if (conversation.timer !== before.timer) return { kind: 'timer', seconds: conversation.timer };
  if (isSamePinned(conversation, before)) return null;
  const pinnedId = conversation.pinned.find((id) => !before.pinned.includes(id)) ?? null;
  return { kind: 'pinned', isPinned: pinnedId !== null, pinnedId };
}

/**
 * Finds the event by which a message was pinned last; null where this device has none, or was out since: it may have been pinned anew
 * meanwhile, by somebody else.
 */
export async function findPinning(
  { account, conversation, conversationId, tx }: ConversationTransaction,
  contentId: string,
): Promise<Pick<EventRecord, 'senderId' | 'timestamp'> | null> {
  const sinceJoin = IDBKeyRange.bound([conversationId, conversation.joinedSeq], [conversationId, []]);
  let cursor = await tx.objectStore('events').openCursor(sinceJoin, 'prev');
  while (cursor !== null) {
    const key = sealingKey(conversationId, cursor.key[1]);
    const record = account.sealer.open('events', key, cursor.value, EventRecord);
    if (record.pinnedId === contentId) return record;
    if (record.kind === 'rejoined') return null;
    cursor = await cursor.continue();
  }
  return null;
}

/** A change as it is kept. The page isn't told which message was pinned, as it knows of no content ids. */
export type KeptChange = ConversationChange & { readonly pinnedId?: string | null };

/** The entry that an event belongs to. */
type EventSource = Pick<LogEntryInput, 'seq' | 'sender_id' | 'sender_device_id' | 'timestamp'>;

/** Returns whether there is an event at a position. */
export async function hasEvent(
  { conversationId, tx }: ConversationTransaction,
  seq: number,
): Promise<boolean> {
  return (await tx.objectStore('events').getKey([conversationId, seq])) !== undefined;
}

/**
 * Stores that a device was let in with another log than this one, at the place where that was.
 * @param differing whose word of the log it is; null where nothing differs
 */
export async function recordDifference(
  transaction: ConversationTransaction,
  differing: Differing | null,
  env: Pick<Env, 'now'>,
): Promise<ConversationEvent | null> {
  const { joinedAt, joinedSeq } = transaction.conversation;
  if (differing === null || (await hasEvent(transaction, joinedSeq))) return null;
  const place = {
    seq: joinedSeq,
    sender_id: differing.userId,
    sender_device_id: differing.deviceId,
    // The entry's own time may be still to come.
    timestamp: joinedAt ?? new Date(env.now()).toISOString(),
  };
  return keepEvent(transaction, place, { kind: 'diverged' });
}

/** Stores an event in the transaction. What is found in a direct conversation has messages wait for the person. */
export function keepEvent(
  transaction: ConversationTransaction,
  entry: EventSource,
  change: KeptChange,
): ConversationEvent {
  const { conversationId, account, tx } = transaction;
  if (isFinding({ change }) && !transaction.isGroup) transaction.conversation.isDoubted = true;
  const isComparison = change.kind === 'members' || change.kind === 'rejoined';
  const record: EventRecord = {
    kind: change.kind,
    senderId: entry.sender_id,
    senderDeviceId: entry.sender_device_id,
    timestamp: entry.timestamp,
    code: change.kind === 'refused' ? change.code : null,
    added: isComparison ? [...change.added] : [],
    removed: isComparison ? [...change.removed] : [],
    count: countOf(change),
    upTo: 'upTo' in change ? change.upTo : 0,
    pinnedId: change.pinnedId ?? null,
  };
  const sealed = account.sealer.seal('events', sealingKey(conversationId, entry.seq), record);
  transaction.queueWrite(tx.objectStore('events').put(sealed, [conversationId, entry.seq]));
  return eventView(conversationId, entry.seq, record);
}

function countOf(change: ConversationChange): number {
  if (change.kind === 'timer') return change.seconds;
  if (change.kind === 'pinned') return Number(change.isPinned);
  return 'count' in change ? change.count : 0;
}

/** Reads the event at the highest position; null where there is none. */
export async function lastEvent({
  account,
  conversationId,
  tx,
}: ConversationTransaction): Promise<ConversationEvent | null> {
  const cursor = await tx.objectStore('events').openCursor(withinConversation(conversationId), 'prev');
  return cursor === null ? null : openEvent(account, conversationId, cursor.key[1], cursor.value);
}

/**
 * Finds the place of what a receipt of a position shows: that position, or the next without an event. Null where there is
 * none yet.
 */
export async function freePlace(
  { conversation, conversationId, tx }: ConversationTransaction,
  position: number,
): Promise<number | null> {
  const range = IDBKeyRange.bound([conversationId, position], [conversationId, conversation.lastSeq]);
  const taken = new Set((await tx.objectStore('events').getAllKeys(range)).map(([, seq]) => seq));
  for (let seq = position; seq <= conversation.lastSeq; seq++) if (!taken.has(seq)) return seq;
  return null;
}

/** Deletes the oldest events beyond the number that a conversation keeps. */
export async function forgetOldestEvents({ conversationId, tx }: ConversationTransaction): Promise<void> {
  const store = tx.objectStore('events');
  const within = withinConversation(conversationId);
  const surplus = (await store.count(within)) - limits.eventsPerConversation;
  if (surplus <= 0) return;
  for (const key of await store.getAllKeys(within, surplus)) await store.delete(key);
}

function peopleOf(members: MembersRecord): ReadonlySet<string> {
  return new Set(members.map(({ userId }) => userId));
}

function openEvent(
  account: UnlockedAccount,
  conversationId: string,
  seq: number,
  row: Uint8Array,
): ConversationEvent {
  const key = sealingKey(conversationId, seq);
  return eventView(conversationId, seq, account.sealer.open('events', key, row, EventRecord));
}

function eventView(conversationId: string, seq: number, record: EventRecord): ConversationEvent {
  const { senderDeviceId, senderId, timestamp } = record;
  return { conversationId, seq, senderId, senderDeviceId, timestamp, change: changeView(record) };
}

function changeView({ added, code, count, kind, removed, upTo }: EventRecord): ConversationChange {
  if (kind === 'refused') return { kind, code: code ?? 'internal' };
  if (kind === 'missing') return { kind, count };
  if (kind === 'timer') return { kind, seconds: count };
  if (kind === 'pinned') return { kind, isPinned: count > 0 };
  if (kind === 'expired' || kind === 'withheld') return { kind, count, upTo };
  return kind === 'returned' || kind === 'diverged' ? { kind } : { kind, added, removed };
}
