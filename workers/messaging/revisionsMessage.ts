/**
 * The message by which own devices tell each other which keys and which account state the relay gives them, so that an older
 * vault or state shows to both (PROTOCOL section 2). No clock is believed: what a device has said at a position of the
 * log, the relay had before it, and gives to whoever asks after reading that position.
 */
import { newestSharedKeys } from '@sinetti/crypto-core/account';
import type { OlderState } from '../api/securityApi.ts';
import { array, boolean, type Guarded, integer, object, oneOf, string } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { readMarksRecord } from '../identity/pins.ts';
import { isRevokedOwn } from '../identity/revocations.ts';
import { type AccountOnDevice, readKeys } from '../session/session.ts';
import type { Transaction, WriteTransaction } from '../storage/db.ts';
import type { MessageRecord } from '../storage/records.ts';
import { parsePayload } from './ownPayload.ts';

const VERSION = 1;
export const OWN_REVISIONS = 'own-revisions';

const revisions = { keys: integer(0, 0xff_ffff), state: integer(-1, 0xffff_ffff) };
/** The shared keys and the account state that a device has; -1 for no state. */
export const Revisions = object(revisions);
type Revisions = Guarded<typeof Revisions>;

const deviceId = string(128);
const older = { deviceId, keys: boolean, state: boolean };

const header = { v: oneOf(VERSION), type: oneOf(OWN_REVISIONS), askedAt: integer(0) };
/** With the devices whose word this one has found to be of something older than it had had before. */
const Said = object({ ...header, ...revisions, older: array(object(older), limits.revisionsHeard) });
/** A message that waits to be encrypted, for the first time or again: the position that its device had read when it asked the relay. */
const Waiting = object(header);

const asked = { position: integer(1), askedAt: integer(0), ...revisions };

const RevisionsRecord = object({
  /** The device that has said it: a browser that becomes another one begins anew. */
  deviceId,
  /** This device's own words, ascending by position. */
  said: array(object(asked), limits.revisionsSaid),
  /** The revisions that it had as it encrypted others of its messages, where they were newer than the ones before. */
  had: array(object({ position: integer(1), ...revisions }), limits.revisionsSaid),
  /**
   * The last word of each other device; the position where it said something first; and whether this one had newer ones
   * then, has said nothing since, and had not told that device before.
   */
  heard: array(
    object({ deviceId, since: integer(1), isUnanswered: boolean, ...asked }),
    limits.revisionsHeard,
  ),
  /** Findings, by the device that was given something older, or that this one has it from. */
  found: array(
    object({ ...older, place: oneOf('here', 'there'), isTold: boolean, isAcknowledged: boolean }),
    limits.revisionsHeard,
  ),
});
type RevisionsRecord = Guarded<typeof RevisionsRecord>;
type Asked = RevisionsRecord['said'][number];
type Heard = RevisionsRecord['heard'][number];

/** The payload of a message that waits to be encrypted. */
export const waitingRevisions = (askedAt: number): string =>
  JSON.stringify({ v: VERSION, type: OWN_REVISIONS, askedAt } satisfies Guarded<typeof Waiting>);

export async function readRevisions(tx: Transaction, account: AccountOnDevice): Promise<RevisionsRecord> {
  const { device, sealer } = account;
  const sealed = await tx.objectStore('device').get('revisions');
  const none = { deviceId: device.deviceId, said: [], had: [], heard: [], found: [] };
  if (sealed === undefined) return none;
  const record = sealer.open('device', 'revisions', sealed, RevisionsRecord);
  return record.deviceId === device.deviceId ? record : none;
}

async function putRevisions(
  tx: WriteTransaction,
  { sealer }: AccountOnDevice,
  record: RevisionsRecord,
): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'revisions', record), 'revisions');
}

/**
 * Returns the position after which the relay is to be asked for a message that says what it gives; null where none is due.
 * One is when this device has said nothing yet, when another has said something newer since, and when another has
 * said something older, which shows only by what that one is given after it has heard of this device's.
 */
export async function revisionsDue(
  tx: Transaction,
  account: AccountOnDevice,
  lastSeq: number,
): Promise<number | null> {
  const known = await readKnown(tx, account);
  const record = await readRevisions(tx, account);
  const last = record.said.at(-1);
  if (last === undefined || (await unsaid(tx, account, record)).length > 0) return lastSeq;
  for (const heard of record.heard) {
    if (await isRevokedOwn(tx, account, heard.deviceId)) continue;
    if (heard.isUnanswered || (isOlder(known, heard) && heard.position > last.askedAt)) return lastSeq;
  }
  return null;
}

/** Returns what was older and the person doesn't know of yet, of devices that are still theirs. */
export async function olderStates(tx: Transaction, account: AccountOnDevice): Promise<OlderState[]> {
  const { found } = await readRevisions(tx, account);
  const isRevoked = await Promise.all(found.map((one) => isRevokedOwn(tx, account, one.deviceId)));
  return found
    .filter(({ isAcknowledged }, i) => !isAcknowledged && isRevoked[i] === false)
    .map(({ deviceId, place, keys, state }) => ({ deviceId, place, keys, state }));
}

export async function acknowledgeOlder(tx: WriteTransaction, account: AccountOnDevice): Promise<void> {
  const record = await readRevisions(tx, account);
  const found = record.found.map((one) => ({ ...one, isAcknowledged: true }));
  await putRevisions(tx, account, { ...record, found });
}

/** Puts into a message that is encrypted now what this device has. */
export async function revisionsToSay(
  { account, tx }: ConversationTransaction,
  payload: string,
): Promise<string | null> {
  const waiting = parsePayload(Waiting, payload);
  if (waiting === null) return null;
  const { askedAt } = waiting;
  const known = await readKnown(tx, account);
  const older = await unsaid(tx, account, await readRevisions(tx, account));
  return JSON.stringify({ v: VERSION, type: OWN_REVISIONS, askedAt, ...known, older } satisfies Guarded<
    typeof Said
  >);
}

/** Notes what this device had as it encrypted the message that the log has at a position. */
export async function noteHad(
  { account, tx }: ConversationTransaction,
  position: number,
  had: Revisions,
): Promise<void> {
  const record = await readRevisions(tx, account);
  const last = record.had.at(-1);
  if (last !== undefined && !isOlder(last, had)) return;
  const next = [...record.had, { position, ...had }].slice(-limits.revisionsSaid);
  await putRevisions(tx, account, { ...record, had: next });
}

/**
 * Compares what another device says with what the relay had before that one asked it, or notes what this one has said.
 * @returns what is kept of the message, null for nothing
 */
export async function takeRevisions(
  { account, tx }: ConversationTransaction,
  position: number,
  record: MessageRecord & { readonly payload: string },
): Promise<MessageRecord | null> {
  const said = parsePayload(Said, record.payload);
  // A device that was revoked may still be in the tree.
  if (said === null || said.askedAt >= position || (await isRevokedOwn(tx, account, record.senderDeviceId))) {
    return { ...record, payload: null, reason: 'rules' };
  }
  const known = await readKnown(tx, account);
  const before = await readRevisions(tx, account);
  const next = record.own
    ? await withOwn(tx, account, before, { position, ...said })
    : withTold(
        withHeard(before, record.senderDeviceId, { position, ...said }, known),
        record.senderDeviceId,
        said.older.find((one) => one.deviceId === account.device.deviceId),
      );
  await putRevisions(tx, account, next);
  return record.own ? record : null;
}

async function withOwn(
  tx: Transaction,
  account: AccountOnDevice,
  before: RevisionsRecord,
  { askedAt, keys, older, position, state }: Asked & Pick<Guarded<typeof Said>, 'older'>,
): Promise<RevisionsRecord> {
  const own: Asked = { position, askedAt, keys, state };
  let next: RevisionsRecord = {
    ...before,
    said: [...before.said, own].slice(-limits.revisionsSaid),
    heard: before.heard.map((heard) => ({ ...heard, isUnanswered: false })),
    found: before.found.map((one) => ({ ...one, isTold: one.isTold || isAmong(older, one) })),
  };
  for (const heard of before.heard) {
    // The relay was asked after this device had read it, and gave something older.
    if (heard.position > askedAt || (await isRevokedOwn(tx, account, heard.deviceId))) continue;
    next = withFound(next, heard.deviceId, 'here', heard, own);
  }
  return next;
}

function withHeard(
  before: RevisionsRecord,
  senderDeviceId: string,
  { askedAt, keys, position, state }: Asked,
  known: Revisions,
): RevisionsRecord {
  const given: Asked = { position, askedAt, keys, state };
  const since = before.heard.find((one) => one.deviceId === senderDeviceId)?.since ?? position;
  // It reads those, and asks the relay once more by itself.
  const told = before.said.filter((one) => one.position > since);
  const isNews = ({ keys, state }: Revisions) =>
    (known.keys > keys && !told.some((one) => one.keys > keys)) ||
    (known.state > state && !told.some((one) => one.state > state));
  const heard: Heard = { deviceId: senderDeviceId, since, isUnanswered: isNews(given), ...given };
  const others = before.heard.filter((one) => one.deviceId !== senderDeviceId);
  const next = { ...before, heard: [...others, heard].slice(-limits.revisionsHeard) };
  const proof = newest([...before.said, ...before.had].filter((one) => one.position <= askedAt));
  return withFound(next, senderDeviceId, 'there', proof, given);
}

/** Adds what another device has found to be older of what this one has said. */
function withTold(
  record: RevisionsRecord,
  senderDeviceId: string,
  told: Guarded<typeof Said>['older'][number] | undefined,
): RevisionsRecord {
  if (told === undefined) return record;
  const had = { keys: told.keys ? 1 : 0, state: told.state ? 1 : 0 };
  return withFound(record, senderDeviceId, 'here', had, { keys: 0, state: 0 });
}

async function unsaid(
  tx: Transaction,
  account: AccountOnDevice,
  { found }: RevisionsRecord,
): Promise<Guarded<typeof Said>['older']> {
  const isRevoked = await Promise.all(found.map((one) => isRevokedOwn(tx, account, one.deviceId)));
  return found
    .filter(({ isTold, place }, i) => place === 'there' && !isTold && isRevoked[i] === false)
    .map(({ deviceId, keys, state }) => ({ deviceId, keys, state }));
}

function isAmong(
  older: Guarded<typeof Said>['older'],
  { deviceId, keys, state }: RevisionsRecord['found'][number],
): boolean {
  return older.some((one) => one.deviceId === deviceId && one.keys === keys && one.state === state);
}

function newest(all: readonly Revisions[]): Revisions {
  const keys = all.reduce((most, one) => Math.max(most, one.keys), 0);
  return { keys, state: all.reduce((most, one) => Math.max(most, one.state), -1) };
}

/** Adds what was older, which the person is told of once for each device and kind. */
function withFound(
  record: RevisionsRecord,
  deviceId: string,
  place: OlderState['place'],
  had: Revisions,
  given: Revisions,
): RevisionsRecord {
  if (!isOlder(given, had)) return record;
  const isThis = (one: RevisionsRecord['found'][number]) => one.deviceId === deviceId && one.place === place;
  const before = record.found.find(isThis);
  const keys = given.keys < had.keys || before?.keys === true;
  const state = given.state < had.state || before?.state === true;
  const isNews = before === undefined || keys !== before.keys || state !== before.state;
  const isAcknowledged = !isNews && before.isAcknowledged;
  const one = { deviceId, place, keys, state, isTold: !isNews && before.isTold, isAcknowledged };
  const found = [...record.found.filter((other) => !isThis(other)), one].slice(-limits.revisionsHeard);
  return { ...record, found };
}

/** Reads the revisions of what this device has now. */
export async function readKnown(tx: Transaction, account: AccountOnDevice): Promise<Revisions> {
  const { sharedKeys } = await readKeys(tx, account);
  const { revision } = await readMarksRecord(tx, account);
  return { keys: newestSharedKeys(sharedKeys).revision, state: revision };
}

function isOlder(one: Revisions, other: Revisions): boolean {
  return one.keys < other.keys || one.state < other.state;
}
