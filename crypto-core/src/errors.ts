/**
 * Every way in which the core can refuse. The set is closed: callers switch on it, translate it and store it,
 * so a code is never renamed and never carries data.
 *
 * | code | meaning |
 * |---|---|
 * | malformed | bytes that don't parse, or a value of an impossible length |
 * | unsupported | well-formed, but of a version, suite, type or parameter that isn't spoken here |
 * | wrong-group / wrong-epoch | a message for another group, or another epoch of this one |
 * | unknown-sender | the sender's leaf is blank, outside the tree, or of a kind not allowed here |
 * | bad-signature / bad-membership-tag / bad-confirmation-tag | that authenticator doesn't hold |
 * | decrypt-failed | authenticated decryption failed |
 * | replayed | the key of that generation was already used, or was dropped as too old |
 * | generation-too-far | a generation further ahead than the ratchet will be advanced for one message |
 * | invalid-leaf / invalid-tree / invalid-proposal / invalid-commit / invalid-key-package / invalid-credential | a validation rule of RFC 9420 failed |
 * | policy | valid MLS, but against the rules of the application |
 * | missing-key / missing-proposal / missing-psk | something the message refers to isn't held here |
 * | missing-tree | the ratchet tree that a GroupInfo names was not given, or something else in its place |
 * | key-exhausted | a ratchet or a counter reached its last value |
 * | own-message | a message that this device itself sent; its key is gone by design |
 * | removed | this member has been removed from the group |
 * | wrong-password | the password (or its parameters) doesn't open the vault |
 * | bad-recovery-key | mistyped, or not the recovery key of this vault |
 * | corrupt-record | a sealed record was altered, moved, or sealed under another key |
 * | usage | the caller broke a precondition: a bug, never the network's doing |
 */
export type CryptoErrorCode =
  | 'malformed'
  | 'unsupported'
  | 'wrong-group'
  | 'wrong-epoch'
  | 'unknown-sender'
  | 'bad-signature'
  | 'bad-membership-tag'
  | 'bad-confirmation-tag'
  | 'decrypt-failed'
  | 'replayed'
  | 'generation-too-far'
  | 'invalid-leaf'
  | 'invalid-tree'
  | 'invalid-proposal'
  | 'invalid-commit'
  | 'invalid-key-package'
  | 'invalid-credential'
  | 'policy'
  | 'missing-key'
  | 'missing-proposal'
  | 'missing-psk'
  | 'missing-tree'
  | 'key-exhausted'
  | 'own-message'
  | 'removed'
  | 'wrong-password'
  | 'bad-recovery-key'
  | 'corrupt-record'
  | 'usage';

/** The only error that the core throws on purpose. Its `detail` never holds a secret or plaintext. */
export class CryptoError extends Error {
  override readonly name = 'CryptoError';
  readonly code: CryptoErrorCode;
  /** The fault, for logs; a check of RFC 9420 starts it with its ID. */
  readonly detail: string | undefined;
  /**
   * ProposalRef (RFC 9420 section 5.2) of the proposal that makes a commit invalid, when the commit refers to it: a
   * committer can leave that one out. Null for every other fault; of an Add by value that is invalid, `detail` ends on its number
   * in the commit's list, from 0.
   */
  readonly proposalRef: Uint8Array | null;

  constructor(code: CryptoErrorCode, detail?: string, proposalRef: Uint8Array | null = null) {
    super(detail === undefined ? code : `${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
    this.proposalRef = proposalRef;
  }
}
