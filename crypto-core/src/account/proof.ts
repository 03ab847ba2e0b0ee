/**
 * Proofs: signatures that an operation on the account takes beside the session, by a key that only the password or the
 * recovery key gives (PROTOCOL section 2).
 */
import { utf8 } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { signWithLabel, verifyWithLabel } from '../suite/labels.ts';
import { sha256 } from '../suite/sodium.ts';
import { getSuite } from '../suite/suites.ts';
import { publicKeyOf } from './signedStatement.ts';

/** The claims that a proof signs. None of them is in the proof: whoever verifies it knows them already. */
export interface ProofClaims {
  /** The request's method and target, such as `DELETE /user`. */
  readonly operation: string;
  /** SHA-256 of the request's body, as the bytes that are sent. */
  readonly bodyHash: Uint8Array;
  /** The version of the vault over which the operation is made, so that a proof ends with the state it was made for. */
  readonly replaces: number;
  /** The id of the relay's session in which the operation is made. */
  readonly session: string;
  /** The relay's nonce. */
  readonly nonce: Uint8Array;
}

const LABEL = 'SinettiAccountProof';
const VERSION = 1;
const HASH_LENGTH = 32;
const MAX_REPLACES = 0xffff_ffff;

// The key is Ed25519, whatever suite a conversation runs.
const suite = getSuite(0x0003);

/**
 * Signs an operation on the account.
 * @param proofSeed from `passwordKeys` or `recoveryProofSeed`
 * @throws CryptoError 'usage' for claims that don't fit their fields
 */
export function signProof(proofSeed: Uint8Array, claims: ProofClaims): Uint8Array {
  return signWithLabel(suite, proofSeed, LABEL, encodeClaims(claims));
}

/**
 * Returns whether the holder of a proof key has signed this operation.
 * @throws CryptoError 'usage' for claims that don't fit their fields
 */
export function verifyProof(proofKey: Uint8Array, claims: ProofClaims, signature: Uint8Array): boolean {
  return verifyWithLabel(suite, proofKey, LABEL, encodeClaims(claims), signature);
}

/** Returns the Ed25519 public key of a proof seed, by which the relay verifies proofs. */
export function proofKeyOf(proofSeed: Uint8Array): Uint8Array {
  return publicKeyOf(proofSeed);
}

/** Returns the hash of a request's body for {@link ProofClaims}; of the empty one for a request without. */
export function hashProofBody(body: string): Uint8Array {
  return sha256(utf8(body));
}

function encodeClaims(claims: ProofClaims): Uint8Array {
  const { bodyHash, replaces } = claims;
  const fits = Number.isInteger(replaces) && replaces >= 0 && replaces <= MAX_REPLACES;
  if (!fits || bodyHash.length !== HASH_LENGTH) throw new CryptoError('usage', 'proof claims');
  return encode(claims, (writer, { operation, session, nonce }) => {
    writer.u8(VERSION);
    writer.opaque(utf8(operation));
    writer.opaque(bodyHash);
    writer.u32(replaces);
    writer.opaque(utf8(session));
    writer.opaque(nonce);
  });
}
