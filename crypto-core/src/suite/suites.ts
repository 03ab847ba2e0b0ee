import { equalBytes, wipe } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { HASH_LENGTH, hkdfExpand, hkdfExtract } from './hkdf.ts';
import { dhkemX25519, type Kem, xwing } from './kem.ts';
import {
  chacha20Poly1305Open,
  chacha20Poly1305Seal,
  ed25519KeyPair,
  ed25519Sign,
  ed25519Verify,
  hmacSha256,
  type KeyPair,
  sha256,
} from './sodium.ts';

/**
 * 0x0003 MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519 (RFC 9420 section 17.1), and the post-quantum suite, which
 * has HPKE KEM 0x647A (X-Wing) in place of X25519. It has no number of the IETF: 0xF04D is of the range for private use.
 * At 0x004D it is the same suite under the number that it had before, which others give to other suites.
 */
export type CipherSuiteId = 0x0003 | 0x004d | 0xf04d;

export interface CipherSuite {
  readonly id: CipherSuiteId;
  readonly kdf: {
    readonly id: 0x0001;
    readonly Nh: 32;
    extract(salt: Uint8Array, ikm: Uint8Array): Uint8Array;
    expand(prk: Uint8Array, info: Uint8Array, length: number): Uint8Array;
  };
  readonly aead: {
    readonly id: 0x0003;
    readonly Nk: 32;
    readonly Nn: 12;
    readonly Nt: 16;
    seal(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Uint8Array;
    /** @throws CryptoError 'decrypt-failed' */
    open(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, ciphertext: Uint8Array): Uint8Array;
  };
  readonly kem: Kem;
  hash(data: Uint8Array): Uint8Array;
  mac(key: Uint8Array, data: Uint8Array): Uint8Array;
  /** A signature by the private key, which is a 32-byte Ed25519 seed. */
  sign(privateKey: Uint8Array, data: Uint8Array): Uint8Array;
  verify(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean;
  /** The signature key pair of a 32-byte seed; `privateKey` is (a copy of) the seed. */
  signatureKeyPair(seed: Uint8Array): KeyPair;
}

// Expanding a seed costs as much as signing. The entry dies with the seed's own array, and a seed that was wiped or
// overwritten in place doesn't match its entry any more.
const expandedKeys = new WeakMap<Uint8Array, Uint8Array>();

function expandedKey(seed: Uint8Array): Uint8Array {
  const cached = expandedKeys.get(seed);
  if (cached !== undefined && equalBytes(cached.subarray(0, seed.length), seed)) return cached;
  const { privateKey } = ed25519KeyPair(seed);
  expandedKeys.set(seed, privateKey);
  return privateKey;
}

/** Wipes a private key, and what was expanded from it. */
export function wipeSignatureKey(seed: Uint8Array): void {
  const expanded = expandedKeys.get(seed);
  if (expanded !== undefined) wipe(expanded);
  expandedKeys.delete(seed);
  wipe(seed);
}

function defineSuite(id: CipherSuiteId, kem: Kem): CipherSuite {
  return {
    id,
    kdf: { id: 0x0001, Nh: HASH_LENGTH, extract: hkdfExtract, expand: hkdfExpand },
    aead: { id: 0x0003, Nk: 32, Nn: 12, Nt: 16, seal: chacha20Poly1305Seal, open: chacha20Poly1305Open },
    kem,
    hash: sha256,
    mac: hmacSha256,
    sign: (privateKey, data) => ed25519Sign(expandedKey(privateKey), data),
    verify: ed25519Verify,
    signatureKeyPair: (seed) => ({ publicKey: ed25519KeyPair(seed).publicKey, privateKey: seed.slice() }),
  };
}

const SUITES: Readonly<Record<CipherSuiteId, CipherSuite>> = {
  0x0003: defineSuite(0x0003, dhkemX25519),
  0x004d: defineSuite(0x004d, xwing),
  0xf04d: defineSuite(0xf04d, xwing),
};

/** @throws CryptoError 'unsupported' for every other suite */
export function getSuite(id: number): CipherSuite {
  if (id === 0x0003 || id === 0x004d || id === 0xf04d) return SUITES[id];
  throw new CryptoError('unsupported', `cipher suite ${id}`);
}
