/**
 * The message by which own devices tell each other how far the person has read, the drafts, and what is muted (PROTOCOL section 2). Its
 * content is made as it is encrypted, of what has not been told by then, and none of it goes into the message cache.
 */
import { ConversationId } from '../api/arguments.ts';
import type { OwnState, ToldState } from '../api/conversationsApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import {
  array,
  boolean,
  type Guarded,
  integer,
  object,
  oneOf,
  string,
  withDefault,
} from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { takeReading } from '../conversation/readings.ts';
import { isRevokedOwn } from '../identity/revocations.ts';
import type { AccountOnDevice } from '../session/session.ts';
import type { Transaction, WriteTransaction } from '../storage/db.ts';
import type { MessageRecord } from '../storage/records.ts';
import { parsePayload } from './ownPayload.ts';
import { noteHad, Revisions, readKnown } from './revisionsMessage.ts';

const VERSION = 1;
export const OWN_STATE = 'own-state';

/** Milliseconds since the Unix epoch. */
const time = integer(0, limits.latestTime);
const Read = object({ conversationId: ConversationId, seq: integer(1) });
const Draft = object({ conversationId: ConversationId, text: string(limits.text), at: time });
type Draft = Guarded<typeof Draft>;
/** A reading that started the clocks of messages: they run out at one time on all of the person's devices. */
const Reading = object({ conversationId: ConversationId, seq: integer(1), at: time });
type Reading = Guarded<typeof Reading>;
/** How long a conversation makes no noise, since when that is so, and whether a mention of the person does. */
const muteFields = { conversationId: ConversationId, until: time, mentions: boolean, at: time };
const Mute = object(muteFields);
type Mute = Guarded<typeof Mute>;

const Said = object({
  v: oneOf(VERSION),
  type: oneOf(OWN_STATE),
  reads: array(Read, limits.readsTold),
  drafts: array(Draft, limits.draftsTold),
  readings: withDefault(array(Reading, limits.readingsTold), []),
  mutes: withDefault(array(Mute, limits.mutesTold), []),
});

/** A message of this device, as the outbox keeps it: with what it had as it encrypted it, which isn't said. */
const Kept = object({ had: Revisions });

/**
 * News that this device has yet to tell, the time of each conversation's newest draft, what it has told that is kept
 * no more, by its id, and that is kept still, by its position.
 */
const OwnStateRecord = object({
  reads: array(Read, limits.pendingReads),
  drafts: array(Draft, limits.pendingDrafts),
  readings: withDefault(array(Reading, limits.readingsTold), []),
  /** All that are known here; those untold have yet to be said. */
  mutes: withDefault(array(object({ ...muteFields, isTold: boolean }), limits.mutes), []),
  /** The devices that have been told of them. */
  mutesKnownTo: withDefault(array(string(36), limits.devicesPerPerson), []),
  times: array(object({ conversationId: ConversationId, at: time }), limits.draftTimes),
  said: withDefault(array(string(128), limits.ownMessagesKnown), []),
  saidAt: array(integer(1), limits.ownMessagesKnown),
});
type OwnStateRecord = Guarded<typeof OwnStateRecord>;

const encoder = new TextEncoder();

/** The payload of a message that waits to be encrypted, and all that is kept of one in the message cache. */
export const emptyOwnState: string = JSON.stringify({ v: VERSION, type: OWN_STATE });

export async function readOwnState(tx: Transaction, { sealer }: AccountOnDevice): Promise<OwnStateRecord> {
  const sealed = await tx.objectStore('device').get('ownState');
  return sealed === undefined
    ? {
        reads: [],
        drafts: [],
        readings: [],
        mutes: [],
        mutesKnownTo: [],
        times: [],
        said: [],
        saidAt: [],
      }
    : sealer.open('device', 'ownState', sealed, OwnStateRecord);
}

export async function putOwnState(
  tx: WriteTransaction,
  { sealer }: AccountOnDevice,
  record: OwnStateRecord,
): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'ownState', record), 'ownState');
}

/** Adds to what is to be told. A draft is newer than any that is known of its conversation, whatever the clocks say. */
export function withPending(
  record: OwnStateRecord,
  { drafts, reads }: OwnState,
  now: number,
): OwnStateRecord {
  let next = { ...record, reads: newest([...record.reads, ...reads], limits.pendingReads) };
  for (const { conversationId, text } of drafts) {
    const draft = { conversationId, text, at: timeAfter(timeOf(next, conversationId), now) };
    next = withTime(next, draft);
    // A longer one could not be sent either.
    const told = text.length <= limits.text && fits([draft]) ? [draft] : [];
    next.drafts = [...others(next.drafts, draft), ...told].slice(-limits.pendingDrafts);
  }
  return next;
}

/** Mutes a conversation, or no longer, which is to be told; the last word counts, whatever the clocks say. */
export function withMute(record: OwnStateRecord, mute: Omit<Mute, 'at'>, now: number): OwnStateRecord {
  return withMutes(record, {
    ...mute,
    at: timeAfter(muteOf(record, mute)?.at ?? 0, now),
    isTold: false,
  });
}

/** Has all that is muted told anew where a device has come that doesn't know of it. */
export function withMutesFor(record: OwnStateRecord, devices: readonly string[]): OwnStateRecord {
  if (devices.every((device) => record.mutesKnownTo.includes(device))) return record;
  const mutes = record.mutes.map((mute) => ({ ...mute, isTold: false }));
  return { ...record, mutes, mutesKnownTo: devices.slice(0, limits.devicesPerPerson) };
}

function withMutes(record: OwnStateRecord, mute: OwnStateRecord['mutes'][number]): OwnStateRecord {
  return { ...record, mutes: [...others(record.mutes, mute), mute].slice(-limits.mutes) };
}

function muteOf(
  { mutes }: OwnStateRecord,
  { conversationId }: Pick<Mute, 'conversationId'>,
): Mute | undefined {
  return mutes.find((mute) => mute.conversationId === conversationId);
}

/** Notes a reading that is to be told. */
export async function tellReading(
  tx: WriteTransaction,
  account: AccountOnDevice,
  reading: Reading,
): Promise<void> {
  const record = await readOwnState(tx, account);
  const readings = [...record.readings, reading].slice(-limits.readingsTold);
  await putOwnState(tx, account, { ...record, readings });
}

export function hasPending({ drafts, mutes, readings, reads }: OwnStateRecord): boolean {
  return drafts.length > 0 || reads.length > 0 || readings.length > 0 || mutes.some(({ isTold }) => !isTold);
}

/** Returns what a message says that is encrypted now, and the payload that the outbox keeps; null with nothing to tell. */
export async function ownStateToSay({
  account,
  tx,
}: ConversationTransaction): Promise<{ readonly said: string; readonly payload: string } | null> {
  const record = await readOwnState(tx, account);
  if (!hasPending(record)) return null;
  const drafts: Draft[] = [];
  for (const draft of record.drafts) {
    if (drafts.length < limits.draftsTold && fits([...drafts, draft])) drafts.push(draft);
  }
  // Beside long drafts the outbox, and the relay, have room for some of the rest, which goes on with the next one.
  const most = sizeOf(drafts) > limits.draftsBesideAll ? limits.toldBesideDrafts : Number.POSITIVE_INFINITY;
  const reads = record.reads.slice(0, Math.min(limits.readsTold, most));
  const readings = record.readings.slice(0, most);
  const mutes = record.mutes
    .flatMap(({ isTold, ...mute }) => (isTold ? [] : mute))
    .slice(0, Math.min(limits.mutesTold, most));
  const said = { v: VERSION, type: OWN_STATE, reads, drafts, readings, mutes } satisfies Guarded<typeof Said>;
  const had = await readKnown(tx, account);
  return { said: JSON.stringify(said), payload: JSON.stringify({ ...said, had }) };
}

/** The outcome of a message: the record that is kept of it, null for none; and the news in it. */
interface Taken {
  readonly kept: MessageRecord | null;
  readonly told: ToldState | null;
}

/** Takes over what a message tells that is newer than what is known here, or notes that this device has told it. */
export async function takeOwnState(
  transaction: ConversationTransaction,
  seq: number,
  record: MessageRecord & { readonly payload: string },
): Promise<Taken> {
  const { account, tx } = transaction;
  const said = parsePayload(Said, record.payload);
  const isBroken =
    said === null ||
    [...said.reads, ...said.drafts, ...said.readings, ...said.mutes].some((one) => !isOwn(one, account));
  // A device that was revoked may still be in the tree.
  if (isBroken || (await isRevokedOwn(tx, account, record.senderDeviceId)))
    return { kept: { ...record, payload: null, reason: 'rules' }, told: null };
  const known = await readOwnState(tx, account);
  const inTime = timelyBy(record);
  if (record.own) {
    const drafts = known.drafts.filter((one) => !isIn(said.drafts, one));
    // Later ones are behind them.
    const readings = known.readings.slice(said.readings.length);
    const mutes = known.mutes.map((one) => (isIn(said.mutes, one) ? { ...inTime(one), isTold: true } : one));
    let next = withoutReads(known, said.reads);
    for (const draft of said.drafts)
      if (draft.at === timeOf(known, draft.conversationId)) next = withTime(next, inTime(draft));
    await putOwnState(tx, account, { ...next, drafts, readings, mutes });
    const kept = parsePayload(Kept, record.payload);
    if (kept !== null) await noteHad(transaction, seq, kept.had);
    return { kept: { ...record, payload: emptyOwnState }, told: null };
  }
  const fresh = said.drafts
    .map(inTime)
    .filter(({ at, conversationId }) => at > timeOf(known, conversationId));
  let next = withoutReads(known, said.reads);
  for (const draft of fresh) next = { ...withTime(next, draft), drafts: others(next.drafts, draft) };
  const freshMutes = said.mutes.map(inTime).filter((mute) => mute.at > (muteOf(known, mute)?.at ?? 0));
  for (const mute of freshMutes) next = withMutes(next, { ...mute, isTold: true });
  await putOwnState(tx, account, next);
  for (const reading of said.readings) await takeReading(transaction, reading);
  const drafts = fresh.map(({ conversationId, text }) => ({ conversationId, text }));
  const told = { reads: said.reads, drafts };
  return { kept: null, told: freshMutes.length > 0 ? { ...told, mutes: true } : told };
}

/** Merges what several messages have told, one after the other. */
export function mergeOwnStates(states: readonly ToldState[]): ToldState {
  return {
    ...(states.some(({ mutes }) => mutes) ? { mutes: true } : {}),
    reads: newest(states.flatMap(({ reads }) => reads)),
    drafts: [
      ...new Map(
        states.flatMap(({ drafts }) => drafts.map((draft) => [draft.conversationId, draft] as const)),
      ).values(),
    ],
  };
}

/**
 * Notes that the log has a message of this device's which is no note. Some of the last ones stay in the message cache, for who
 * still asks about one that they have sent; of those before them the ids are known, since given again such a message would look like
 * one that this device has not sent.
 */
export async function noteSaid(
  { account, conversationId, tx }: ConversationTransaction,
  seq: number,
): Promise<void> {
  const record = await readOwnState(tx, account);
  const store = tx.objectStore('messages');
  const saidAt = [...record.saidAt, seq];
  const said = [...record.said];
  for (const spent of saidAt.splice(0, saidAt.length - limits.ownMessagesKept)) {
    const row = await store.get([conversationId, spent]);
    if (row !== undefined) said.push(row.messageId);
    await store.delete([conversationId, spent]);
  }
  await putOwnState(tx, account, { ...record, said: said.slice(-limits.ownMessagesKnown), saidAt });
}

/** Returns whether the log has had a message of this device's which is kept no more, of those that it has sent last. */
export async function hasSaid(
  { account, isSelf, tx }: ConversationTransaction,
  messageId: string,
): Promise<boolean> {
  return isSelf && (await readOwnState(tx, account)).said.includes(messageId);
}

/** Returns the highest position of each conversation, of those that were named last. */
function newest(reads: readonly Guarded<typeof Read>[], most = reads.length): Guarded<typeof Read>[] {
  const seqs = new Map<string, number>();
  for (const { conversationId, seq } of reads) {
    const known = seqs.get(conversationId) ?? 0;
    seqs.delete(conversationId);
    seqs.set(conversationId, Math.max(seq, known));
  }
  const all = [...seqs].map(([conversationId, seq]) => ({ conversationId, seq }));
  return all.slice(Math.max(0, all.length - most));
}

function withoutReads(record: OwnStateRecord, said: OwnState['reads']): OwnStateRecord {
  const seqs = new Map(said.map(({ conversationId, seq }) => [conversationId, seq]));
  const reads = record.reads.filter(({ conversationId, seq }) => seq > (seqs.get(conversationId) ?? 0));
  return { ...record, reads };
}

function withTime(record: OwnStateRecord, draft: Omit<Draft, 'text'>): OwnStateRecord {
  const { at, conversationId } = draft;
  const times = [...others(record.times, draft), { conversationId, at }].slice(-limits.draftTimes);
  return { ...record, times };
}

type Dated = Pick<Draft | Mute, 'at' | 'conversationId'>;

/** Returns whether what was said of a conversation is this, or later. */
function isIn(said: readonly Dated[], { at, conversationId }: Dated): boolean {
  return said.some((one) => one.conversationId === conversationId && one.at >= at);
}

/** Returns a time for what the person says now: later than what was said before, and one that a record can hold. */
function timeAfter(before: number, now: number): number {
  return Math.min(Math.max(now, before + 1), limits.latestTime);
}

/**
 * Has nothing be later than the relay had its message, on all devices alike: by a time in the far future one that is stolen, or whose
 * clock is wrong, would have the last word for good.
 */
function timelyBy({ timestamp }: MessageRecord): <T extends { readonly at: number }>(one: T) => T {
  const latest = Math.max(0, Date.parse(timestamp) + limits.clockDifference);
  return (one) => (one.at > latest ? { ...one, at: latest } : one);
}

function timeOf({ times }: OwnStateRecord, conversationId: string): number {
  return times.find((one) => one.conversationId === conversationId)?.at ?? 0;
}

function others<T extends { readonly conversationId: string }>(
  all: readonly T[],
  { conversationId }: { readonly conversationId: string },
): T[] {
  return all.filter((one) => one.conversationId !== conversationId);
}

function fits(drafts: readonly Draft[]): boolean {
  return sizeOf(drafts) <= limits.draftsSize;
}

function sizeOf(drafts: readonly Draft[]): number {
  return encoder.encode(JSON.stringify(drafts)).length;
}

function isOwn(
  { conversationId }: { readonly conversationId: string },
  { userId }: AccountOnDevice,
): boolean {
  try {
    parseConversationId(conversationId, userId);
    return true;
  } catch (error) {
    if (error instanceof CryptoApiError) return false;
    throw error;
  }
}
