import { concat, utf8 } from '../bytes.ts';
import { encode } from '../codec/writer.ts';
import { sha256 } from '../suite/sodium.ts';

/** One side of a conversation, as far as it enters the safety number. */
export interface AccountIdentity {
  readonly userId: string;
  /** Ed25519 public key of the account. */
  readonly accountKey: Uint8Array;
}

// Half a number is 30 digits, close to 100 bits. The iterations make each guess at a key with a colliding half
// 2^12 times dearer, and cost milliseconds once.
const ITERATIONS = 5200;
const CHUNKS = 6;
const CHUNK_LENGTH = 5;
const LABEL = utf8('Sinetti safety number v1');

/**
 * Computes the 60 decimal digits that two people compare: a half for each person, the smaller first, so that both
 * sides get the same. A half is SHA-256 over label, key and user id, iterated 5200 times over the previous digest and
 * the key. Each of its first six groups of five bytes, a big-endian integer modulo 100000, gives five of its 30 digits.
 */
export function safetyNumber(one: AccountIdentity, other: AccountIdentity): string {
  return [half(one), half(other)].sort().join('');
}

function half({ userId, accountKey }: AccountIdentity): string {
  let digest = sha256(
    encode(userId, (writer, id) => {
      writer.opaque(LABEL);
      writer.opaque(accountKey);
      writer.opaque(utf8(id));
    }),
  );
  for (let i = 0; i < ITERATIONS; i++) digest = sha256(concat(digest, accountKey));
  let digits = '';
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    let value = 0;
    for (const byte of digest.subarray(chunk * CHUNK_LENGTH, (chunk + 1) * CHUNK_LENGTH))
      value = value * 256 + byte;
    digits += String(value % 100_000).padStart(5, '0');
  }
  return digits;
}
