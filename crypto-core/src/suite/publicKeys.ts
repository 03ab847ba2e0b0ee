/** Validation of KEM public keys without a key agreement: for each node of a tree that somebody else sent. */
import { octetAt } from '../bytes.ts';

const X25519_LENGTH = 32;

/**
 * The u-coordinates of small order, as 32 bytes in little-endian order without the top bit, those that aren't reduced
 * included. X25519 of any private key with them is all zero, which RFC 7748 section 6.1 and libsodium refuse.
 */
const SMALL_ORDER: readonly bigint[] = [
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  2n ** 255n - 20n,
  2n ** 255n - 19n,
  2n ** 255n - 18n,
];

const smallOrder = SMALL_ORDER.map((coordinate) =>
  Uint8Array.from({ length: X25519_LENGTH }, (_, at) => Number((coordinate >> BigInt(8 * at)) & 0xffn)),
);

/** Returns whether a key agreement with this X25519 key can succeed. */
export function isX25519PublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== X25519_LENGTH) return false;
  return !smallOrder.some((point) =>
    point.every((octet, at) => {
      const given = octetAt(publicKey, at);
      return octet === (at === X25519_LENGTH - 1 ? given & 0x7f : given);
    }),
  );
}

export const MLKEM768_PUBLIC_KEY_LENGTH = 1184;
const MODULUS = 3329;
/** The last 32 bytes are a seed, of which any will do. */
const COEFFICIENTS_LENGTH = 1152;

/** The checks of FIPS 203 section 7.2 for ML-KEM-768: the length, and each 12-bit coefficient below the modulus. */
export function isMlKem768PublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== MLKEM768_PUBLIC_KEY_LENGTH) return false;
  for (let at = 0; at < COEFFICIENTS_LENGTH; at += 3) {
    const low = octetAt(publicKey, at);
    const middle = octetAt(publicKey, at + 1);
    const high = octetAt(publicKey, at + 2);
    if ((low | ((middle & 0x0f) << 8)) >= MODULUS || ((middle >> 4) | (high << 4)) >= MODULUS) return false;
  }
  return true;
}
