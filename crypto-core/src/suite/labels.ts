/** The labelled operations of RFC 9420 sections 5.1, 5.2, 8 and 9: a label ties every use of a key to its purpose. */
import { EMPTY, utf8 } from '../bytes.ts';
import { encode, varintLength, type Writer, withEncoded, writeVarint } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import type { HpkeCiphertext } from './hpke.ts';
import * as hpke from './hpke.ts';
import type { CipherSuite } from './suites.ts';

/** RefHash(label, value). The full label is the caller's: "MLS 1.0 KeyPackage Reference", and so on. */
export function refHash(suite: CipherSuite, label: string, value: Uint8Array): Uint8Array {
  return withEncoded(
    { label: utf8(label), value },
    writeRefHashInput,
    (bytes) => suite.hash(bytes),
    value.length + 64,
  );
}

/** RefHashInput: { label, value }. */
function writeRefHashInput(
  w: Writer,
  input: { readonly label: Uint8Array; readonly value: Uint8Array },
): void {
  w.opaque(input.label);
  w.opaque(input.value);
}

/** MakeKeyPackageRef of RFC 9420 section 5.2. @param keyPackage the encoded KeyPackage */
export function makeKeyPackageRef(suite: CipherSuite, keyPackage: Uint8Array): Uint8Array {
  return refHash(suite, 'MLS 1.0 KeyPackage Reference', keyPackage);
}

/** MakeProposalRef of RFC 9420 section 5.2. @param authenticatedContent the encoded AuthenticatedContent */
export function makeProposalRef(suite: CipherSuite, authenticatedContent: Uint8Array): Uint8Array {
  return refHash(suite, 'MLS 1.0 Proposal Reference', authenticatedContent);
}

/** SignWithLabel(privateKey, label, content); "MLS 1.0 " is put before the label here. */
export function signWithLabel(
  suite: CipherSuite,
  privateKey: Uint8Array,
  label: string,
  content: Uint8Array,
): Uint8Array {
  return withEncoded({ label, content }, writeLabelled, (bytes) => suite.sign(privateKey, bytes));
}

/**
 * Encodes the SignContent of a structure for the time of a call: the bytes that `signWithLabel` signs, without another copy of
 * the structure in between. @param expected size in bytes, when it is large
 */
export function withSignContent<T, R>(
  label: string,
  value: T,
  write: (writer: Writer, value: T) => void,
  take: (bytes: Uint8Array) => R,
  expected?: number,
): R {
  const writeSignContent = (w: Writer): void => {
    w.bytes(encodedLabel(label));
    w.lengthPrefixed(() => write(w, value));
  };
  return withEncoded(value, writeSignContent, take, expected);
}

/** VerifyWithLabel. */
export function verifyWithLabel(
  suite: CipherSuite,
  publicKey: Uint8Array,
  label: string,
  content: Uint8Array,
  signature: Uint8Array,
): boolean {
  return withEncoded({ label, content }, writeLabelled, (bytes) => suite.verify(publicKey, bytes, signature));
}

/** EncryptWithLabel (RFC 9420 section 5.1.3). @throws CryptoError 'malformed' for an invalid public key */
export function encryptWithLabel(
  suite: CipherSuite,
  publicKey: Uint8Array,
  label: string,
  context: Uint8Array,
  plaintext: Uint8Array,
  env: Env,
): HpkeCiphertext {
  return encryptorWithLabel(suite, label, context)(publicKey, plaintext, env);
}

/** EncryptWithLabel to many recipients: the context, which may be large, is hashed once. */
export function encryptorWithLabel(
  suite: CipherSuite,
  label: string,
  context: Uint8Array,
): (publicKey: Uint8Array, plaintext: Uint8Array, env: Env) => HpkeCiphertext {
  const sender = hpke.baseSender(suite, encode({ label, content: context }, writeLabelled));
  return (publicKey, plaintext, env) => {
    const { kemOutput, context: sealing } = sender.setup(publicKey, env);
    return { kemOutput, ciphertext: sealing.seal(EMPTY, plaintext) };
  };
}

/** DecryptWithLabel. @throws CryptoError 'decrypt-failed' or 'malformed' */
export function decryptWithLabel(
  suite: CipherSuite,
  privateKey: Uint8Array,
  label: string,
  context: Uint8Array,
  sealed: HpkeCiphertext,
): Uint8Array {
  return hpke.open(suite, privateKey, encode({ label, content: context }, writeLabelled), EMPTY, sealed);
}

/** ExpandWithLabel(secret, label, context, length) of RFC 9420 section 8. */
export function expandWithLabel(
  suite: CipherSuite,
  secret: Uint8Array,
  label: string,
  context: Uint8Array,
  length: number,
): Uint8Array {
  if (length > suite.kdf.Nh) {
    return suite.kdf.expand(secret, kdfLabel(label, context, length, 0), length);
  }
  // The ratchets' hot path: one block of HKDF-Expand is one HMAC over KDFLabel and the block number 1.
  const info = kdfLabel(label, context, length, 1);
  info[info.length - 1] = 1;
  const block = suite.mac(secret, info);
  return length === block.length ? block : block.subarray(0, length);
}

/** DeriveSecret(secret, label) of RFC 9420 section 8: Nh bytes. */
export function deriveSecret(suite: CipherSuite, secret: Uint8Array, label: string): Uint8Array {
  return expandWithLabel(suite, secret, label, EMPTY, suite.kdf.Nh);
}

/** DeriveTreeSecret(secret, label, generation, length) of RFC 9420 section 9.1. */
export function deriveTreeSecret(
  suite: CipherSuite,
  secret: Uint8Array,
  label: string,
  generation: number,
  length: number,
): Uint8Array {
  const context = new Uint8Array(4);
  context[0] = generation >>> 24;
  context[1] = generation >>> 16;
  context[2] = generation >>> 8;
  context[3] = generation;
  return expandWithLabel(suite, secret, label, context, length);
}

const encodedLabels = new Map<string, Uint8Array>();

/** `opaque label<V> = "MLS 1.0 " + Label`, encoded. Labels are few; exporter labels are the application's own. */
function encodedLabel(label: string): Uint8Array {
  const known = encodedLabels.get(label);
  if (known !== undefined) return known;
  const encoded = encode(utf8(`MLS 1.0 ${label}`), (writer, bytes) => writer.opaque(bytes));
  if (encodedLabels.size < 64) encodedLabels.set(label, encoded);
  return encoded;
}

/** SignContent and EncryptContext: { label, content }. */
function writeLabelled(w: Writer, input: { readonly label: string; readonly content: Uint8Array }): void {
  w.bytes(encodedLabel(input.label));
  w.opaque(input.content);
}

/** KDFLabel: { uint16 length, label, context }, with `spare` bytes after it. */
function kdfLabel(label: string, context: Uint8Array, length: number, spare: number): Uint8Array {
  if (length > 0xffff) throw new CryptoError('usage', 'KDF output too long');
  const prefix = encodedLabel(label);
  const header = varintLength(context.length);
  const contextStart = 2 + prefix.length + header;
  const out = new Uint8Array(contextStart + context.length + spare);
  out[0] = length >> 8;
  out[1] = length;
  out.set(prefix, 2);
  writeVarint(out, contextStart - header, context.length);
  out.set(context, contextStart);
  return out;
}
