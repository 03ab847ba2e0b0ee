import { CryptoError } from '../errors.ts';
import { hmacSha256 } from './sodium.ts';

/** Output size of HMAC-SHA-256 and so of HKDF-Extract: `KDF.Nh`. */
export const HASH_LENGTH = 32;

/** HKDF-Extract with SHA-256 (RFC 5869 section 2.2). */
export function hkdfExtract(salt: Uint8Array, ikm: Uint8Array): Uint8Array {
  return hmacSha256(salt, ikm);
}

/** HKDF-Expand with SHA-256 (RFC 5869 section 2.3). @throws CryptoError 'usage' beyond 255 blocks */
export function hkdfExpand(prk: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  if (length > 255 * HASH_LENGTH) throw new CryptoError('usage', 'HKDF output too long');
  // T(n-1) || info || n, with the block counter rewritten in place.
  const input = new Uint8Array(HASH_LENGTH + info.length + 1);
  input.set(info, HASH_LENGTH);
  const out = new Uint8Array(length);
  for (let block = 1, offset = 0; offset < length; block++, offset += HASH_LENGTH) {
    input[input.length - 1] = block;
    const t = hmacSha256(prk, block === 1 ? input.subarray(HASH_LENGTH) : input);
    input.set(t);
    out.set(length - offset < HASH_LENGTH ? t.subarray(0, length - offset) : t, offset);
  }
  return out;
}
