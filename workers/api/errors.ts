import type { CryptoErrorCode } from '@sinetti/crypto-core';

/**
 * Every code with which the worker's API can fail: crypto-core's, and those that only a browser can cause.
 *
 * | code | meaning |
 * |---|---|
 * | locked | nobody's storage is open: sign in again |
 * | gap | log entries are missing; `detail` is the sequence number wanted next |
 * | identity-changed | the account key differs from the one pinned for that person |
 * | storage | IndexedDB refused or lost something; `detail` is the browser's error name |
 * | pending | an own commit is pending: submit it again (nextCommit) and process the log first |
 * | unknown-message | no such message here, or the person has discarded it |
 * | position-taken | the relay says that it stored a message at a position of the log where this device has read another entry |
 * | unknown-file | no such file is being sent or shown here any more |
 * | not-author | only who wrote a message may edit it, or delete it for everybody |
 * | stars-full | as many messages are starred as can be |
 * | unknown-person | no account key is known of that person |
 * | stale-vault | the relay's vault is older than one that this device has seen |
 * | members-in-doubt | messages to the group wait for the person's word on people whom nobody has vouched for |
 * | device-copied | this device's data is in another place too: nothing is encrypted any more |
 * | cancelled | the person has called the operation off |
 * | keys-unreachable | the frame at the origin of the keys could not be loaded |
 * | internal | a bug; `detail` is the error's name, never its message |
 *
 * `wrong-password`, `unsupported` and `usage` (an argument that isn't what the interface says) are
 * crypto-core's.
 */
const workerCodes = [
  'locked',
  'gap',
  'identity-changed',
  'storage',
  'pending',
  'unknown-message',
  'position-taken',
  'unknown-file',
  'not-author',
  'stars-full',
  'unknown-person',
  'stale-vault',
  'members-in-doubt',
  'device-copied',
  'cancelled',
  'keys-unreachable',
  'internal',
] as const;

// This is a record, so that a code which crypto-core adds or drops fails to compile here.
const coreCodes: Readonly<Record<CryptoErrorCode, true>> = {
  malformed: true,
  unsupported: true,
  'wrong-group': true,
  'wrong-epoch': true,
  'unknown-sender': true,
  'bad-signature': true,
  'bad-membership-tag': true,
  'bad-confirmation-tag': true,
  'decrypt-failed': true,
  replayed: true,
  'generation-too-far': true,
  'invalid-leaf': true,
  'invalid-tree': true,
  'invalid-proposal': true,
  'invalid-commit': true,
  'invalid-key-package': true,
  'invalid-credential': true,
  policy: true,
  'missing-key': true,
  'missing-proposal': true,
  'missing-psk': true,
  'missing-tree': true,
  'key-exhausted': true,
  'own-message': true,
  removed: true,
  'wrong-password': true,
  'bad-recovery-key': true,
  'corrupt-record': true,
  usage: true,
};

export type CryptoApiErrorCode = CryptoErrorCode | (typeof workerCodes)[number];

export const cryptoApiErrorCodes: readonly CryptoApiErrorCode[] = [
  ...(Object.keys(coreCodes) as CryptoErrorCode[]),
  ...workerCodes,
];

export function isCryptoApiErrorCode(code: string): code is CryptoApiErrorCode {
  return (cryptoApiErrorCodes as readonly string[]).includes(code);
}

/**
 * The error with which every method of the CryptoApi rejects. `detail` never holds plaintext, a key or a
 * password.
 */
export class CryptoApiError extends Error {
  // Assigned in the constructor it would meet the name of Error.prototype, which is frozen in the worker.
  override readonly name = 'CryptoApiError';
  readonly code: CryptoApiErrorCode;
  readonly detail: string;

  constructor(code: CryptoApiErrorCode, detail = '') {
    super(detail === '' ? code : `${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
  }
}

/** Rebuilds the error of a refused call on the page's side of the worker's API. */
export function fromWire(code: string, detail: string): CryptoApiError {
  return isCryptoApiErrorCode(code)
    ? new CryptoApiError(code, detail)
    : new CryptoApiError('internal', 'unknown code');
}
