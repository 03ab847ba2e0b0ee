import { concat, equalBytes, utf8 } from '../bytes.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { blake2bKeyed, type KeyPair, sha256, xwingKeyPair } from '../suite/sodium.ts';

// Crockford's alphabet: no letter that looks like a digit, and no U.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const KEY_LENGTH = 32;
const CHECKSUM_LENGTH = 3;
// 35 bytes are exactly 56 characters of five bits, so there are no spare bits and no second spelling of a key.
const TEXT_LENGTH = ((KEY_LENGTH + CHECKSUM_LENGTH) * 8) / 5;

const CHECKSUM_LABEL = utf8('Sinetti recovery key checksum v1');
const WRAP_LABEL = utf8('Sinetti recovery wrap key v1');
const KEY_PAIR_LABEL = utf8('Sinetti recovery key pair v1');
const AUTH_LABEL = utf8('Sinetti recovery auth key v1');
const PROOF_LABEL = utf8('Sinetti recovery proof key v1');

/** Draws 32 random bytes. */
export function createRecoveryKey(env: Env): Uint8Array {
  return env.random(KEY_LENGTH);
}

/** Writes a key as people see it: 14 groups of 4 characters, joined by hyphens; the last 24 bits are a checksum. */
export function encodeRecoveryKey(key: Uint8Array): string {
  if (key.length !== KEY_LENGTH) throw new CryptoError('usage', 'recovery key length');
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of concat(key, checksum(key))) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((buffer >>> bits) & 31);
    }
    buffer &= 0xff;
  }
  return text.replace(/.{4}(?=.)/g, '$&-');
}

/**
 * Reads a key as people type it: any case, with or without hyphens and spaces, O for 0, I or L for 1.
 * @throws CryptoError 'bad-recovery-key'
 */
export function decodeRecoveryKey(text: string): Uint8Array {
  const digits = text.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  if (digits.length !== TEXT_LENGTH) throw new CryptoError('bad-recovery-key', 'length');
  const bytes = new Uint8Array(KEY_LENGTH + CHECKSUM_LENGTH);
  let buffer = 0;
  let bits = 0;
  let length = 0;
  for (const digit of digits) {
    const value = ALPHABET.indexOf(digit);
    if (value === -1) throw new CryptoError('bad-recovery-key', 'character');
    buffer = (buffer << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[length++] = buffer >>> bits;
      buffer &= (1 << bits) - 1;
    }
  }
  const key = bytes.slice(0, KEY_LENGTH);
  if (!equalBytes(bytes.subarray(KEY_LENGTH), checksum(key))) {
    throw new CryptoError('bad-recovery-key', 'checksum');
  }
  return key;
}

/** Derives the X-Wing key pair to whose public half the vault key is sealed; the private key has 32 bytes. */
export function recoveryKeyPair(key: Uint8Array): KeyPair {
  return xwingKeyPair(blake2bKeyed(key, KEY_PAIR_LABEL, 32));
}

/** Derives the key that wrapped the vault key in accounts from before vault version 2. */
export function recoveryWrapKey(key: Uint8Array): Uint8Array {
  return blake2bKeyed(key, WRAP_LABEL, 32);
}

/** Derives the key that the relay sees in place of the recovery key; it tells nothing of the key that wraps. */
export function recoveryAuthKey(key: Uint8Array): Uint8Array {
  return blake2bKeyed(key, AUTH_LABEL, 32);
}

/** Derives the Ed25519 seed that signs proofs in place of the password's. */
export function recoveryProofSeed(key: Uint8Array): Uint8Array {
  return blake2bKeyed(key, PROOF_LABEL, 32);
}

function checksum(key: Uint8Array): Uint8Array {
  return sha256(concat(CHECKSUM_LABEL, key)).subarray(0, CHECKSUM_LENGTH);
}
