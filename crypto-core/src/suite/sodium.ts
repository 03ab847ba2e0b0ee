/**
 * The one door to libsodium: thin, typed, synchronous once `ready` has resolved. Every refusal of the library leaves
 * as a CryptoError. Key and nonce sizes are in bytes throughout.
 */
// The named exports that the type declarations promise don't all exist at run time; the default export is complete.
import sodium from 'libsodium-wrappers';
import { CryptoError } from '../errors.ts';

/**
 * Resolves when the primitives of the suites (RFC 9420 section 5.1) may be used; everything after it is synchronous. Rejects
 * with the host's own error where WebAssembly is not to be had.
 */
export async function ready(): Promise<void> {
  // oxlint-disable-next-line import/no-named-as-default-member -- see the import
  await sodium.ready;
}

/** libsodium as it was compiled: byte strings are addresses in its memory, and a length is two numbers, of which the second is 0. */
interface Compiled {
  /** The memory. It is another array once it has grown. */
  readonly HEAPU8: Uint8Array;
  _malloc(length: number): number;
  _crypto_auth_hmacsha256(out: number, data: number, length: number, zero: 0, key: number): number;
  readonly _crypto_aead_chacha20poly1305_ietf_encrypt: (
    ...args: [number, 0, number, number, 0, number, number, 0, 0, number, number]
  ) => number;
  readonly _crypto_aead_chacha20poly1305_ietf_decrypt: (
    ...args: [number, 0, 0, number, number, 0, number, number, 0, number, number]
  ) => number;
}

/**
 * A place in libsodium's memory for short inputs. The wrappers ask for memory for each of them, which costs as much as
 * hashing one does. A call leaves the place overwritten.
 */
const SCRATCH_LENGTH = 16_384;
const KEY_AT = 0;
const NONCE_AT = 32;
const OUT_AT = 48;
/** Bytes of input, associated data included: as much again is there for the output. */
const MOST_SCRATCH_INPUT = 8000;

let scratch: { readonly lib: Compiled; readonly at: number } | null = null;

function scratchOf(): { readonly lib: Compiled; readonly at: number } {
  if (scratch === null) {
    // The wrappers export it without declaring it.
    const { libsodium: lib } = sodium as unknown as { readonly libsodium: Compiled };
    const at = lib._malloc(SCRATCH_LENGTH);
    // Address 0 is what it gives when there is no memory; libsodium's own data lie there.
    if (at === 0) throw new CryptoError('unsupported', 'memory');
    scratch = { lib, at };
  }
  return scratch;
}

export interface KeyPair {
  publicKey: Uint8Array;
  privateKey: Uint8Array;
}

/** SHA-256, 32 bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  return sodium.crypto_hash_sha256(data);
}

/** SHA-256 of bytes that come piece by piece. Its memory is given back by `digest`, which is the last call. */
export interface RunningSha256 {
  update(data: Uint8Array): void;
  /** 32 bytes. */
  digest(): Uint8Array;
}

/** Begins a SHA-256 of bytes that come one after the other. */
export function runningSha256(): RunningSha256 {
  const state = sodium.crypto_hash_sha256_init();
  return {
    update: (data) => sodium.crypto_hash_sha256_update(state, data),
    digest: () => sodium.crypto_hash_sha256_final(state),
  };
}

/** HMAC-SHA-256, 32 bytes; a key of any length. */
export function hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array {
  if (key.length === 32 && data.length <= MOST_SCRATCH_INPUT) return hmacInScratch(key, data);
  const state = sodium.crypto_auth_hmacsha256_init(key);
  sodium.crypto_auth_hmacsha256_update(state, data);
  return sodium.crypto_auth_hmacsha256_final(state);
}

function hmacInScratch(key: Uint8Array, data: Uint8Array): Uint8Array {
  const { lib, at } = scratchOf();
  const input = at + OUT_AT + 32;
  const memory = lib.HEAPU8;
  memory.set(key, at + KEY_AT);
  memory.set(data, input);
  lib._crypto_auth_hmacsha256(at + OUT_AT, input, data.length, 0, at + KEY_AT);
  const mac = memory.slice(at + OUT_AT, input);
  memory.fill(0, at, input + data.length);
  return mac;
}

/** SHAKE256 with `length` bytes of output. */
export function shake256(data: Uint8Array, length: number): Uint8Array {
  return sodium.crypto_xof_shake256(length, data);
}

/** BLAKE2b with a key of 32 bytes; `length` 16 to 64. */
export function blake2bKeyed(key: Uint8Array, data: Uint8Array, length: number): Uint8Array {
  assertLength(key, 32, 'BLAKE2b key');
  return sodium.crypto_generichash(length, data, key);
}

/** Ed25519 key pair of a 32-byte seed; the private key is libsodium's 64-byte form (seed, then public key). */
export function ed25519KeyPair(seed: Uint8Array): KeyPair {
  assertLength(seed, 32, 'Ed25519 seed');
  const { publicKey, privateKey } = sodium.crypto_sign_seed_keypair(seed);
  return { publicKey, privateKey };
}

/** Ed25519 signature, 64 bytes. @param privateKey the 64-byte form that `ed25519KeyPair` gives */
export function ed25519Sign(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
  assertLength(privateKey, 64, 'Ed25519 private key');
  return sodium.crypto_sign_detached(message, privateKey);
}

/** Returns whether the signature holds; false, too, for a key or signature of a wrong length. */
export function ed25519Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  return sodium.crypto_sign_verify_detached(signature, message, publicKey);
}

/** Computes the public key of an X25519 private key. */
export function x25519Base(privateKey: Uint8Array): Uint8Array {
  assertLength(privateKey, 32, 'X25519 private key');
  return sodium.crypto_scalarmult_base(privateKey);
}

/** X25519 (RFC 7748). @throws CryptoError 'malformed' when the result is all zero: a point of small order */
export function x25519(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  assertLength(privateKey, 32, 'X25519 private key');
  assertLength(publicKey, 32, 'X25519 public key');
  return refuseAs('malformed', 'X25519 public key', () => sodium.crypto_scalarmult(privateKey, publicKey));
}

export const XWING = { publicKey: 1216, privateKey: 32, ciphertext: 1120, encapsulationSeed: 64 } as const;

/** X-Wing key pair of a 32-byte seed; the private key is the seed itself. */
export function xwingKeyPair(seed: Uint8Array): KeyPair {
  assertLength(seed, XWING.privateKey, 'X-Wing seed');
  const { publicKey, privateKey } = sodium.crypto_kem_xwing_seed_keypair(seed);
  return { publicKey, privateKey };
}

/** X-Wing encapsulation from 64 random bytes. @throws CryptoError 'malformed' for an invalid public key */
export function xwingEncapsulate(
  publicKey: Uint8Array,
  seed: Uint8Array,
): { ciphertext: Uint8Array; sharedSecret: Uint8Array } {
  assertLength(publicKey, XWING.publicKey, 'X-Wing public key');
  assertLength(seed, XWING.encapsulationSeed, 'X-Wing encapsulation seed');
  return refuseAs('malformed', 'X-Wing public key', () =>
    sodium.crypto_kem_xwing_enc_deterministic(publicKey, seed),
  );
}

/** X-Wing decapsulation: the 32-byte shared secret. */
export function xwingDecapsulate(privateKey: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  assertLength(privateKey, XWING.privateKey, 'X-Wing private key');
  assertLength(ciphertext, XWING.ciphertext, 'X-Wing ciphertext');
  return refuseAs('decrypt-failed', 'X-Wing', () => sodium.crypto_kem_xwing_dec(ciphertext, privateKey));
}

const TAG_LENGTH = 16;

/** ChaCha20-Poly1305 (RFC 8439): ciphertext, then a 16-byte tag. Key 32, nonce 12. */
export function chacha20Poly1305Seal(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  assertLength(key, 32, 'AEAD key');
  assertLength(nonce, 12, 'AEAD nonce');
  if (aad.length + plaintext.length > MOST_SCRATCH_INPUT) {
    return sodium.crypto_aead_chacha20poly1305_ietf_encrypt(plaintext, aad, null, nonce, key);
  }
  return aeadInScratch(true, key, nonce, aad, plaintext);
}

/** @throws CryptoError 'decrypt-failed' */
export function chacha20Poly1305Open(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  ciphertext: Uint8Array,
): Uint8Array {
  assertLength(key, 32, 'AEAD key');
  assertLength(nonce, 12, 'AEAD nonce');
  const length = ciphertext.length - TAG_LENGTH;
  if (length < 0 || aad.length + length > MOST_SCRATCH_INPUT) {
    return refuseAs('decrypt-failed', 'ChaCha20-Poly1305', () =>
      sodium.crypto_aead_chacha20poly1305_ietf_decrypt(null, ciphertext, aad, nonce, key),
    );
  }
  return aeadInScratch(false, key, nonce, aad, ciphertext);
}

function aeadInScratch(
  seals: boolean,
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  input: Uint8Array,
): Uint8Array {
  const { lib, at } = scratchOf();
  const [keyAt, nonceAt, out] = [at + KEY_AT, at + NONCE_AT, at + OUT_AT];
  const { length } = input;
  const text = out + length + (seals ? TAG_LENGTH : -TAG_LENGTH);
  const ad = text + length;
  const memory = lib.HEAPU8;
  memory.set(key, keyAt);
  memory.set(nonce, nonceAt);
  memory.set(input, text);
  memory.set(aad, ad);
  const {
    _crypto_aead_chacha20poly1305_ietf_encrypt: seal,
    _crypto_aead_chacha20poly1305_ietf_decrypt: open,
  } = lib;
  const refused = seals
    ? seal(out, 0, text, length, 0, ad, aad.length, 0, 0, nonceAt, keyAt)
    : open(out, 0, 0, text, length, 0, ad, aad.length, 0, nonceAt, keyAt);
  const output = memory.slice(out, text);
  memory.fill(0, at, ad);
  if (refused !== 0) throw new CryptoError('decrypt-failed', 'ChaCha20-Poly1305');
  return output;
}

/** XChaCha20-Poly1305: ciphertext, then a 16-byte tag. Key 32, nonce 24: long enough to be random. */
export function xchacha20Poly1305Seal(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  assertLength(key, 32, 'AEAD key');
  assertLength(nonce, 24, 'AEAD nonce');
  return sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, aad, null, nonce, key);
}

/** @throws CryptoError 'decrypt-failed' */
export function xchacha20Poly1305Open(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  ciphertext: Uint8Array,
): Uint8Array {
  assertLength(key, 32, 'AEAD key');
  assertLength(nonce, 24, 'AEAD nonce');
  return refuseAs('decrypt-failed', 'XChaCha20-Poly1305', () =>
    sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, ciphertext, aad, nonce, key),
  );
}

/** Argon2id, one lane. @param memLimit bytes. @throws CryptoError 'unsupported' when the memory can't be had */
export function argon2id(
  password: Uint8Array,
  salt: Uint8Array,
  opsLimit: number,
  memLimit: number,
  length: number,
): Uint8Array {
  assertLength(salt, 16, 'Argon2id salt');
  return refuseAs('unsupported', 'Argon2id parameters', () =>
    sodium.crypto_pwhash(length, password, salt, opsLimit, memLimit, sodium.crypto_pwhash_ALG_ARGON2ID13),
  );
}

function assertLength(bytes: Uint8Array, length: number, what: string): void {
  if (bytes.length !== length) throw new CryptoError('malformed', `${what} of ${bytes.length} bytes`);
}

function refuseAs<T>(code: 'malformed' | 'decrypt-failed' | 'unsupported', what: string, call: () => T): T {
  try {
    return call();
  } catch {
    // libsodium's own messages say nothing that the code doesn't.
    throw new CryptoError(code, what);
  }
}
