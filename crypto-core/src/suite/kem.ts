import { concat, EMPTY, utf8, wipe } from '../bytes.ts';
import type { Env } from '../env.ts';
import { hkdfExpand, hkdfExtract } from './hkdf.ts';
import { isMlKem768PublicKey, isX25519PublicKey, MLKEM768_PUBLIC_KEY_LENGTH } from './publicKeys.ts';
import {
  type KeyPair,
  shake256,
  XWING,
  x25519,
  x25519Base,
  xwingDecapsulate,
  xwingEncapsulate,
  xwingKeyPair,
} from './sodium.ts';

/** A key encapsulation mechanism as RFC 9180 section 4 defines it; sizes in bytes under the RFC's names. */
export interface Kem {
  readonly id: 0x0020 | 0x647a;
  readonly Nsecret: 32;
  readonly Nenc: number;
  readonly Npk: number;
  readonly Nsk: 32;
  /** DeriveKeyPair: deterministic; `ikm` of at least Nsk bytes. */
  deriveKeyPair(ikm: Uint8Array): KeyPair;
  generateKeyPair(env: Env): KeyPair;
  /** @throws CryptoError 'malformed' for a private key of a wrong length */
  publicKey(privateKey: Uint8Array): Uint8Array;
  /** Returns whether `encap` takes this key, at a hundredth of its cost. */
  isPublicKey(publicKey: Uint8Array): boolean;
  /** @throws CryptoError 'malformed' for an invalid public key */
  encap(publicKey: Uint8Array, env: Env): { enc: Uint8Array; sharedSecret: Uint8Array };
  /** @throws CryptoError 'malformed' or 'decrypt-failed' for an invalid encapsulation */
  decap(enc: Uint8Array, privateKey: Uint8Array): Uint8Array;
}

const HPKE_V1 = utf8('HPKE-v1');

/** LabeledExtract of RFC 9180 section 4. */
export function labeledExtract(
  suiteId: Uint8Array,
  salt: Uint8Array,
  label: string,
  ikm: Uint8Array,
): Uint8Array {
  return hkdfExtract(salt, concat(HPKE_V1, suiteId, utf8(label), ikm));
}

/** LabeledExpand of RFC 9180 section 4. */
export function labeledExpand(
  suiteId: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  return hkdfExpand(prk, concat(u16(length), HPKE_V1, suiteId, utf8(label), info), length);
}

/** I2OSP(value, 2) */
export function u16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}

const X25519_SUITE_ID = concat(utf8('KEM'), u16(0x0020));
const XWING_SUITE_ID = concat(utf8('KEM'), u16(0x647a));

/** DHKEM(X25519, HKDF-SHA256), RFC 9180 sections 4.1 and 7.1. */
export const dhkemX25519: Kem = {
  id: 0x0020,
  Nsecret: 32,
  Nenc: 32,
  Npk: 32,
  Nsk: 32,
  deriveKeyPair(ikm) {
    const dkpPrk = labeledExtract(X25519_SUITE_ID, EMPTY, 'dkp_prk', ikm);
    const privateKey = labeledExpand(X25519_SUITE_ID, dkpPrk, 'sk', EMPTY, 32);
    return { publicKey: x25519Base(privateKey), privateKey };
  },
  generateKeyPair(env) {
    return generate(this, env);
  },
  publicKey: x25519Base,
  isPublicKey: isX25519PublicKey,
  encap(publicKey, env) {
    const ephemeral = generate(this, env);
    const dh = x25519(ephemeral.privateKey, publicKey);
    const sharedSecret = extractAndExpand(dh, ephemeral.publicKey, publicKey);
    wipe(ephemeral.privateKey, dh);
    return { enc: ephemeral.publicKey, sharedSecret };
  },
  decap(enc, privateKey) {
    const dh = x25519(privateKey, enc);
    const sharedSecret = extractAndExpand(dh, enc, x25519Base(privateKey));
    wipe(dh);
    return sharedSecret;
  },
};

/** MLKEM768-X25519, that is X-Wing, as draft-ietf-hpke-pq section 4 puts it into HPKE. A private key is its seed. */
export const xwing: Kem = {
  id: 0x647a,
  Nsecret: 32,
  Nenc: XWING.ciphertext,
  Npk: XWING.publicKey,
  Nsk: 32,
  deriveKeyPair(ikm) {
    // LabeledDerive of a single-stage KDF: ikm, version, suite, length-prefixed label, output length, context.
    const label = utf8('DeriveKeyPair');
    const seed = shake256(concat(ikm, HPKE_V1, XWING_SUITE_ID, u16(label.length), label, u16(32)), 32);
    return xwingKeyPair(seed);
  },
  generateKeyPair(env) {
    return generate(this, env);
  },
  publicKey(privateKey) {
    return xwingKeyPair(privateKey).publicKey;
  },
  // The ML-KEM-768 key, then the X25519 key.
  isPublicKey(publicKey) {
    return (
      isMlKem768PublicKey(publicKey.subarray(0, MLKEM768_PUBLIC_KEY_LENGTH)) &&
      isX25519PublicKey(publicKey.subarray(MLKEM768_PUBLIC_KEY_LENGTH))
    );
  },
  encap(publicKey, env) {
    const seed = env.random(XWING.encapsulationSeed);
    const { ciphertext, sharedSecret } = xwingEncapsulate(publicKey, seed);
    wipe(seed);
    return { enc: ciphertext, sharedSecret };
  },
  decap(enc, privateKey) {
    return xwingDecapsulate(privateKey, enc);
  },
};

function generate(kem: Kem, env: Env): KeyPair {
  const ikm = env.random(kem.Nsk);
  const keyPair = kem.deriveKeyPair(ikm);
  wipe(ikm);
  return keyPair;
}

function extractAndExpand(dh: Uint8Array, enc: Uint8Array, recipient: Uint8Array): Uint8Array {
  const eaePrk = labeledExtract(X25519_SUITE_ID, EMPTY, 'eae_prk', dh);
  return labeledExpand(X25519_SUITE_ID, eaePrk, 'shared_secret', concat(enc, recipient), 32);
}
