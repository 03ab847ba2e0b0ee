/** HPKE (RFC 9180), base mode: the only mode MLS uses. */
import { concat, EMPTY, utf8 } from '../bytes.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { labeledExpand, labeledExtract, u16 } from './kem.ts';
import type { CipherSuite } from './suites.ts';

/** `HPKECiphertext` of RFC 9420 section 7.6. */
export interface HpkeCiphertext {
  readonly kemOutput: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/** One direction of an HPKE context (RFC 9180 section 5.1). Sequence numbers advance with each call. */
export interface HpkeContext {
  seal(aad: Uint8Array, plaintext: Uint8Array): Uint8Array;
  /** @throws CryptoError 'decrypt-failed', and then the sequence number stays */
  open(aad: Uint8Array, ciphertext: Uint8Array): Uint8Array;
  export(exporterContext: Uint8Array, length: number): Uint8Array;
}

const MODE_BASE = Uint8Array.of(0);

/** The part of SetupBaseS that doesn't depend on the recipient. */
export interface BaseSender {
  /** Makes the encapsulation and the sender's context. @throws CryptoError 'malformed' for an invalid public key */
  setup(publicKey: Uint8Array, env: Env): { kemOutput: Uint8Array; context: HpkeContext };
}

/** Prepares for many recipients of one `info`, which may be a megabyte and is hashed once. */
export function baseSender(suite: CipherSuite, info: Uint8Array): BaseSender {
  const schedule = keyScheduleOf(suite, info);
  return {
    setup(publicKey, env) {
      const { enc, sharedSecret } = suite.kem.encap(publicKey, env);
      return { kemOutput: enc, context: schedule(sharedSecret) };
    },
  };
}

/** SetupBaseS: the encapsulation and the sender's context. @throws CryptoError 'malformed' for an invalid public key */
export function setupBaseS(
  suite: CipherSuite,
  publicKey: Uint8Array,
  info: Uint8Array,
  env: Env,
): { kemOutput: Uint8Array; context: HpkeContext } {
  return baseSender(suite, info).setup(publicKey, env);
}

/** SetupBaseR: the recipient's context. @throws CryptoError 'malformed' for an invalid encapsulation */
export function setupBaseR(
  suite: CipherSuite,
  kemOutput: Uint8Array,
  privateKey: Uint8Array,
  info: Uint8Array,
): HpkeContext {
  return keyScheduleOf(suite, info)(suite.kem.decap(kemOutput, privateKey));
}

/** Single-shot SealBase (RFC 9180 section 6.1). */
export function seal(
  suite: CipherSuite,
  publicKey: Uint8Array,
  info: Uint8Array,
  aad: Uint8Array,
  plaintext: Uint8Array,
  env: Env,
): HpkeCiphertext {
  const { kemOutput, context } = setupBaseS(suite, publicKey, info, env);
  return { kemOutput, ciphertext: context.seal(aad, plaintext) };
}

/** Single-shot OpenBase. @throws CryptoError 'decrypt-failed' or 'malformed' */
export function open(
  suite: CipherSuite,
  privateKey: Uint8Array,
  info: Uint8Array,
  aad: Uint8Array,
  sealed: HpkeCiphertext,
): Uint8Array {
  return setupBaseR(suite, sealed.kemOutput, privateKey, info).open(aad, sealed.ciphertext);
}

/** KeySchedule of RFC 9180 section 5.1, up to the step that takes the shared secret. */
function keyScheduleOf(suite: CipherSuite, info: Uint8Array): (sharedSecret: Uint8Array) => HpkeContext {
  const { aead, kdf, kem } = suite;
  const suiteId = concat(utf8('HPKE'), u16(kem.id), u16(kdf.id), u16(aead.id));
  const pskIdHash = labeledExtract(suiteId, EMPTY, 'psk_id_hash', EMPTY);
  const infoHash = labeledExtract(suiteId, EMPTY, 'info_hash', info);
  const context = concat(MODE_BASE, pskIdHash, infoHash);
  return (sharedSecret) => contextOf(suite, suiteId, context, sharedSecret);
}

function contextOf(
  { aead, kdf }: CipherSuite,
  suiteId: Uint8Array,
  context: Uint8Array,
  sharedSecret: Uint8Array,
): HpkeContext {
  const secret = labeledExtract(suiteId, sharedSecret, 'secret', EMPTY);
  const key = labeledExpand(suiteId, secret, 'key', context, aead.Nk);
  const baseNonce = labeledExpand(suiteId, secret, 'base_nonce', context, aead.Nn);
  const exporterSecret = labeledExpand(suiteId, secret, 'exp', context, kdf.Nh);
  let sequence = 0;

  function nonce(): Uint8Array {
    // The RFC allows 2^96 messages; a 32-bit counter is checked instead, as MLS sends one per context.
    if (sequence > 0xffffffff) throw new CryptoError('key-exhausted', 'HPKE sequence number');
    const value = baseNonce.slice();
    new DataView(value.buffer).setUint32(
      value.length - 4,
      (new DataView(baseNonce.buffer).getUint32(baseNonce.length - 4) ^ sequence) >>> 0,
    );
    return value;
  }

  return {
    seal(aad, plaintext) {
      const ciphertext = aead.seal(key, nonce(), aad, plaintext);
      sequence++;
      return ciphertext;
    },
    open(aad, ciphertext) {
      const plaintext = aead.open(key, nonce(), aad, ciphertext);
      sequence++;
      return plaintext;
    },
    export(exporterContext, length) {
      return labeledExpand(suiteId, exporterSecret, 'sec', exporterContext, length);
    },
  };
}
