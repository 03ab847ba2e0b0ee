/**
 * The message by which own devices give each other the newest shared keys (PROTOCOL section 2). The keys are in it only
 * while it is encrypted: the outbox, the message cache and the page have the rest, which says that there was one.
 */
import { CryptoError, equalBytes } from '@sinetti/crypto-core';
import {
  newestSharedKeys,
  type SharedKeys,
  type SharedKeysStatement,
  verifySharedKeys,
} from '@sinetti/crypto-core/account';
import { toBase64Url } from '../codec/base64url.ts';
import { array, type Guarded, integer, nullable, object, oneOf } from '../codec/guards.ts';
import { bytes } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { isRevokedOwn } from '../identity/revocations.ts';
import { type AccountOnDevice, readKeys } from '../session/session.ts';
import { withKeys } from '../session/vaultOpening.ts';
import type { MessageRecord } from '../storage/records.ts';
import { parsePayload } from './ownPayload.ts';

const VERSION = 1;
export const SHARED_KEYS = 'shared-keys';

/** The content of the message: the keys of one or several renewals, oldest first, as the account key has signed them. */
const SaidKeys = object({
  v: oneOf(VERSION),
  type: oneOf(SHARED_KEYS),
  statements: array(bytes(limits.keysStatement, 1), limits.keysStatements),
});
/** The record of the message: the revision of the newest keys in it; null while it waits to be encrypted. */
const KeptKeys = object({ v: oneOf(VERSION), type: oneOf(SHARED_KEYS), revision: nullable(integer(0)) });

/** The payload that is kept of a message with shared keys. */
export function keptKeys(revision: number | null): string {
  return JSON.stringify({ v: VERSION, type: SHARED_KEYS, revision } satisfies Guarded<typeof KeptKeys>);
}

/**
 * Puts the newest shared keys into a message that is to be encrypted.
 * @returns what is said, and the payload that the outbox keeps; null where another device has said all keys meanwhile
 */
export async function withSharedKeys({
  account,
  conversation,
  tx,
}: ConversationTransaction): Promise<{ readonly said: string; readonly payload: string } | null> {
  const { statements } = await readKeys(tx, account);
  // None that were there before: a device that came in since is told of what comes after it.
  const fresh = statements.filter(({ revision }) => revision > conversation.saidRevision);
  const newest = fresh.at(-1);
  if (newest === undefined) return null;
  const wire = fresh.map(({ statement }) => toBase64Url(statement));
  const said = JSON.stringify({ v: VERSION, type: SHARED_KEYS, statements: wire });
  return { said, payload: keptKeys(newest.revision) };
}

/**
 * Takes what this device has for said as it comes into the group: those before it have the same from the vault, and
 * whoever comes in is to be given none that are older. Coming back changes nothing. To be called before it is a member.
 */
export async function startSaying({
  account,
  conversation,
  isSelf,
  tx,
}: ConversationTransaction): Promise<void> {
  if (!isSelf || conversation.membership !== 'none') return;
  const { sharedKeys } = await readKeys(tx, account);
  conversation.saidRevision = newestSharedKeys(sharedKeys).revision;
}

/**
 * Takes over the shared keys that a message of the own devices' group says, if they are newer than this device's. Of
 * anything else that is said there, nothing is kept.
 * @returns what is kept of the message
 */
export async function takeSharedKeys(
  transaction: ConversationTransaction,
  record: MessageRecord & { readonly payload: string },
): Promise<MessageRecord> {
  if (record.own) {
    noteSaid(transaction, parsePayload(KeptKeys, record.payload)?.revision ?? 0);
    return record;
  }
  const revision = await adopt(transaction, record.senderDeviceId, record.payload);
  return revision === null
    ? { ...record, payload: null, reason: 'rules' }
    : { ...record, payload: keptKeys(revision) };
}

function noteSaid({ conversation }: ConversationTransaction, revision: number): void {
  conversation.saidRevision = Math.max(conversation.saidRevision, revision);
}

/** @returns the revision of the newest keys that the message has; null for a message that is refused */
async function adopt(
  transaction: ConversationTransaction,
  senderDeviceId: string,
  payload: string,
): Promise<number | null> {
  const { account, tx } = transaction;
  const said =
    parsePayload(SaidKeys, payload)?.statements.map((statement) => readSaid(statement, account)) ?? [];
  const stated = said.filter((one) => one !== null);
  const newest = stated.at(-1);
  if (newest === undefined || stated.length < said.length) return null;
  // A device that was revoked may still be in the tree.
  if (await isRevokedOwn(tx, account, senderDeviceId)) return null;
  let record = await readKeys(tx, account);
  for (const { formerRevision, keys, statement } of stated) {
    // Keys that don't join on to this device's own leave a gap, whose keys only the vault has.
    if (newestSharedKeys(record.sharedKeys).revision !== formerRevision) continue;
    const { revision } = keys;
    // The newest keys have the revision of the vault that brought them.
    const added = { sharedKeys: [keys], vaultVersion: revision, statements: [{ revision, statement }] };
    record = { ...record, ...withKeys(record, added) };
    await tx.objectStore('device').put(account.sealer.seal('device', 'keys', record), 'keys');
  }
  if (isContradicted(record.sharedKeys, newest)) {
    // The relay had lost the vault of the keys held here, and the person went on from an older one: the password brings these.
    const behind = { ...record, vaultVersion: Math.min(record.vaultVersion, newest.keys.revision - 1) };
    await tx.objectStore('device').put(account.sealer.seal('device', 'keys', behind), 'keys');
  }
  if (record.sharedKeys.some((held) => isSame(held, newest.keys)))
    noteSaid(transaction, newest.keys.revision);
  return newest.keys.revision;
}

/** Returns whether the account key has signed others in the place of the newest of these keys, after the same ones. */
function isContradicted(
  held: readonly SharedKeys[],
  { formerRevision, keys }: Pick<SharedKeysStatement, 'formerRevision' | 'keys'>,
): boolean {
  const newest = newestSharedKeys(held);
  const isAfterSame = held.at(-2)?.revision === formerRevision;
  return isAfterSame && newest.revision === keys.revision && !isSame(newest, keys);
}

function isSame(one: SharedKeys, other: SharedKeys): boolean {
  return (
    one.revision === other.revision &&
    equalBytes(one.stateKey, other.stateKey) &&
    equalBytes(one.historyKey, other.historyKey)
  );
}

/** Reads a statement of this person's account key; null for any other, which whoever has a device's own keys can make. */
function readSaid(statement: Uint8Array, { device, userId }: AccountOnDevice) {
  try {
    const stated = verifySharedKeys(statement);
    const isOwn = stated.userId === userId && equalBytes(stated.accountKey, device.accountKey);
    return isOwn ? { ...stated, statement } : null;
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}
