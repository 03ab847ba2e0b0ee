/** Entries of the log: what each alone says, whatever the conversation's state. */
import {
  type CommitPolicy,
  type Credential,
  CryptoError,
  decryptApplication,
  equalBytes,
  type MemberCheck,
} from '@sinetti/crypto-core';
import type { ChainHeader } from '@sinetti/crypto-core/content';
import type { LogEntryInput, UndecryptableReason } from '../api/cryptoApi.ts';
import { CryptoApiError, type CryptoApiErrorCode } from '../api/errors.ts';
import { fromBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import type { MembershipPolicy } from '../conversation/membershipPolicy.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import { certificateOf } from '../identity/certificates.ts';
import { readPlaintext } from '../storage/payload.ts';
import type { ForkReason, MessageRecord } from '../storage/records.ts';
import { reasonOfCode } from './undecryptableReasons.ts';

const encoder = new TextEncoder();

/**
 * Decrypts an entry and checks its sender.
 * @throws CryptoError for any fault of the entry; the ratchet may then have moved
 */
export function decryptEntry(
  state: MlsGroup,
  entry: LogEntryInput,
  epoch: number,
): { header: ChainHeader | null; payload: string } {
  const content = fromBase64Url(entry.content);
  // The relay takes no larger ones, and the message cache has no room for what is in them.
  if (content === null || content.length > limits.content || entry.epoch !== epoch)
    throw new CryptoError('malformed', 'log entry');
  if (!state.hasDevice(entry.sender_id, entry.sender_device_id)) {
    throw new CryptoError('unknown-sender', 'a device that is not in the group');
  }
  const { plaintext, authenticatedData, sender } = decryptApplication(state.group, content);
  requireSender(entry, sender.credential);
  // A ciphertext that has another id in the log was copied there from its own entry.
  if (!equalBytes(authenticatedData, encoder.encode(entry.id))) {
    throw new CryptoError('malformed', 'message id');
  }
  return readPlaintext(plaintext);
}

/** Returns whether the relay has only the digest of an entry. */
export function isEmptied({ content, digest }: Pick<LogEntryInput, 'content' | 'digest'>): boolean {
  return content === '' && Boolean(digest);
}

/** The checks of a commit, which has to come from the device whose entry it is: a member could pass it off as another's. */
export function checksOf(
  entry: LogEntryInput,
  { memberCheck, policy }: Pick<MembershipPolicy, 'memberCheck' | 'policy'>,
): { readonly memberCheck: MemberCheck; readonly policy: CommitPolicy } {
  return {
    memberCheck,
    policy(commit) {
      requireSender(entry, commit.senderCredential);
      policy(commit);
    },
  };
}

/** @throws CryptoError `policy` unless an entry is of the device that the relay says has sent it */
function requireSender(entry: LogEntryInput, credential: Credential): void {
  const { deviceId, userId } = certificateOf(credential);
  if (userId !== entry.sender_id || deviceId !== entry.sender_device_id) {
    throw new CryptoError('policy', 'the relay names another sender');
  }
}

/**
 * Returns the reason that is shown for a refused entry. Its bytes may be a stranger's, so even an unforeseen
 * error counts as a damaged entry and doesn't stop those after it.
 */
export function reasonOf(error: unknown): Exclude<ForkReason, 'expired'> {
  if (error instanceof CryptoApiError && error.code === 'identity-changed') return 'unknown-device';
  return error instanceof CryptoError ? reasonOfCode[error.code] : 'damaged';
}

/** Returns the code that the details show; `internal` for an unforeseen error. */
export function codeOf(error: unknown): CryptoApiErrorCode {
  return error instanceof CryptoError || error instanceof CryptoApiError ? error.code : 'internal';
}

/** @param sentAt the sender's clock, in milliseconds since the Unix epoch; null where its message says none */
export function received(entry: LogEntryInput, payload: string, sentAt: number | null): MessageRecord {
  return {
    senderId: entry.sender_id,
    senderDeviceId: entry.sender_device_id,
    timestamp: entry.timestamp,
    own: false,
    payload,
    reason: null,
    sentAt,
    isClockOff: false,
    epoch: entry.epoch,
    expiresAt: null,
    erased: null,
  };
}

export function refusal(entry: LogEntryInput, reason: UndecryptableReason, own = false): MessageRecord {
  return { ...received(entry, '', null), payload: null, reason, own, epoch: null };
}

/**
 * Drops repetitions of entries that were delivered twice.
 * @throws CryptoApiError `usage` for entries out of order
 */
export function ascending(entries: readonly LogEntryInput[]): LogEntryInput[] {
  return entries.filter(({ seq }, i) => {
    const before = entries[i - 1];
    if (before !== undefined && seq < before.seq) throw new CryptoApiError('usage', 'entries out of order');
    return before === undefined || seq > before.seq;
  });
}

/**
 * Checks that no entry is missing.
 * @throws CryptoApiError `gap`, whose detail is the position that is missing
 */
export function checkContiguous(entries: readonly LogEntryInput[], first: number): void {
  for (const [i, { seq }] of entries.entries()) {
    if (seq !== first + i) throw new CryptoApiError('gap', String(first + i));
  }
}
