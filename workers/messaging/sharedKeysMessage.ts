/**
 * The message by which own devices give each other the newest shared keys (PROTOCOL section 2). The keys are in it only
 * while it is encrypted: the outbox, the message cache and the page have the rest, which says that there was one.
 */
import {
  CryptoError,
  equalBytes,
  newestSharedKeys,
  type SharedKeys,
  verifySharedKeys,
} from '@sinetti/crypto-core';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { type Guarded, GuardFailure, integer, nullable, object, oneOf } from '../codec/guards.ts';
import { bytes } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { readKeys } from '../session/session.ts';
import { withKeys } from '../session/vaultOpening.ts';
import type { MessageRecord } from '../storage/records.ts';

const VERSION = 1;
const TYPE = 'shared-keys';

/** What is said: the keys as the account key has signed them. */
const SaidKeys = object({ v: oneOf(VERSION), type: oneOf(TYPE), statement: bytes(limits.keysStatement, 1) });
/** What is kept of it: the revision of the newest keys in it; null while it waits to be encrypted. */
const KeptKeys = object({ v: oneOf(VERSION), type: oneOf(TYPE), revision: nullable(integer(0)) });

/** The payload that is kept of a message with shared keys. */
export function keptKeys(revision: number | null): string {
  return JSON.stringify({ v: VERSION, type: TYPE, revision } satisfies Guarded<typeof KeptKeys>);
}

/**
 * Puts the newest shared keys into a message of the own devices' group that is to be encrypted; any other goes as it is.
 * @returns what is said, and the payload that the outbox keeps
 */
export async function withSharedKeys(
  { account, isSelf, tx }: ConversationTransaction,
  payload: string,
): Promise<{ readonly said: string; readonly payload: string }> {
  if (!isSelf) return { said: payload, payload };
  const { sharedKeys, statement } = await readKeys(tx, account);
  if (statement === null) throw new CryptoApiError('usage', 'no keys to share');
  const said = JSON.stringify({ v: VERSION, type: TYPE, statement: toBase64Url(statement) });
  return { said, payload: keptKeys(newestSharedKeys(sharedKeys).revision) };
}

/**
 * Takes over the shared keys that a message of the own devices' group says, if they are newer than this device's. Of
 * anything else that is said there, nothing is kept.
 * @returns what is kept of the message
 */
export async function takeSharedKeys(
  transaction: ConversationTransaction,
  record: MessageRecord,
): Promise<MessageRecord> {
  if (!transaction.isSelf || record.payload === null) return record;
  if (record.own) {
    noteSaid(transaction, parse(KeptKeys, record.payload)?.revision ?? 0);
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
  const said = parse(SaidKeys, payload);
  const stated = said === null ? null : readStatement(said.statement);
  if (said === null || stated === null) return null;
  // A device that was revoked may still be in the tree.
  const revocation = await tx.objectStore('revocations').getKey([account.userId, senderDeviceId]);
  if (revocation !== undefined) return null;
  // Whoever has no more than a device's own keys can't make this up.
  const isOwn = stated.userId === account.userId && equalBytes(stated.accountKey, account.device.accountKey);
  if (!isOwn) return null;
  const { revision } = newestSharedKeys(stated.sharedKeys);
  const known = await readKeys(tx, account);
  if (!follows(stated.sharedKeys, known.sharedKeys)) return revision;
  noteSaid(transaction, revision);
  if (revision > newestSharedKeys(known.sharedKeys).revision) {
    // The newest keys have the revision of the vault that brought them.
    const added = { sharedKeys: stated.sharedKeys, vaultVersion: revision, statement: said.statement };
    const record = { ...known, ...withKeys(known, added) };
    await tx.objectStore('device').put(account.sealer.seal('device', 'keys', record), 'keys');
  }
  return revision;
}

/** Returns whether keys join on to this device's: none between them are missing, and those that both have are the same. */
function follows(stated: readonly SharedKeys[], known: readonly SharedKeys[]): boolean {
  const held = new Map(known.map((keys) => [keys.revision, keys]));
  const common = stated.filter(({ revision }) => held.has(revision));
  return (
    common.length > 0 &&
    common.at(-1)?.revision ===
      Math.min(newestSharedKeys(stated).revision, newestSharedKeys(known).revision) &&
    common.every(({ historyKey, revision, stateKey }) => {
      const own = held.get(revision);
      return (
        own !== undefined && equalBytes(own.stateKey, stateKey) && equalBytes(own.historyKey, historyKey)
      );
    })
  );
}

function readStatement(statement: Uint8Array) {
  try {
    return verifySharedKeys(statement);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

function parse<T>(guard: (value: unknown) => T, payload: string): T | null {
  try {
    return guard(JSON.parse(payload));
  } catch (error) {
    if (error instanceof GuardFailure || error instanceof SyntaxError) return null;
    throw error;
  }
}
