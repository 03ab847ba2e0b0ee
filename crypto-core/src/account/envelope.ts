/** The envelope of whatever is sealed at rest, in bytes: version (1), nonce (24), ciphertext with tag (16). */
import type { Env } from '../env.ts';
import { CryptoError, type CryptoErrorCode } from '../errors.ts';
import { xchacha20Poly1305Open, xchacha20Poly1305Seal } from '../suite/sodium.ts';

const VERSION = 1;
const NONCE_LENGTH = 24;
const HEADER_LENGTH = 1 + NONCE_LENGTH;
const TAG_LENGTH = 16;

/** Seals with XChaCha20-Poly1305 under a random nonce. @param key 32 bytes */
export function sealEnvelope(key: Uint8Array, aad: Uint8Array, plaintext: Uint8Array, env: Env): Uint8Array {
  const nonce = env.random(NONCE_LENGTH);
  const ciphertext = xchacha20Poly1305Seal(key, nonce, aad, plaintext);
  const out = new Uint8Array(HEADER_LENGTH + ciphertext.length);
  out[0] = VERSION;
  out.set(nonce, 1);
  out.set(ciphertext, HEADER_LENGTH);
  return out;
}

/**
 * @param failure the code for everything but an unknown version, in the caller's terms
 * @throws CryptoError 'unsupported' for another version, `failure` for everything else
 */
export function openEnvelope(
  key: Uint8Array,
  aad: Uint8Array,
  sealed: Uint8Array,
  failure: CryptoErrorCode,
): Uint8Array {
  if (sealed.length < HEADER_LENGTH + TAG_LENGTH) throw new CryptoError(failure, 'truncated');
  if (sealed[0] !== VERSION) throw new CryptoError('unsupported', `envelope version ${sealed[0]}`);
  try {
    return xchacha20Poly1305Open(key, sealed.subarray(1, HEADER_LENGTH), aad, sealed.subarray(HEADER_LENGTH));
  } catch {
    throw new CryptoError(failure);
  }
}
