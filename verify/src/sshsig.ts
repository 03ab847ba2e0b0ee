import { createHash, createPublicKey, verify } from 'node:crypto';
import { Failure } from './errors.ts';

/** The purpose that `ssh-keygen -Y sign -n` is told: a signature for another one proves nothing here. */
export const releaseNamespace = 'sinetti-release';

/** A public key as OpenSSH writes it in a line: its type and its blob in base64. */
export interface SigningKey {
  readonly type: (typeof keyTypes)[number];
  /** The blob, of which signatures hold a copy. */
  readonly blob: Uint8Array;
  /** The Ed25519 public key in it, 32 bytes. */
  readonly raw: Uint8Array;
  /** The application that a security key was told (`ssh:`); null for a key in a file. */
  readonly application: string | null;
}

/** Ed25519 in a file, and in a security key that wants to be touched. */
const keyTypes = ['ssh-ed25519', 'sk-ssh-ed25519@openssh.com'] as const;
const magic = 'SSHSIG';
const hashes = ['sha256', 'sha512'] as const;
const userPresent = 0x01;

/**
 * Reads a line such as `ssh-ed25519 AAAA…`, without a comment.
 * @throws Failure `malformed`
 */
export function parseSigningKey(line: string): SigningKey {
  const [type, text, ...rest] = line.split(' ');
  if (text === undefined || rest.length > 0)
    throw new Failure('malformed', 'A key is its type and its base64.');
  const blob = fromBase64(text);
  const key = keyOf(blob);
  if (key.type !== type) throw new Failure('malformed', `The key says that it is ${key.type}, not ${type}.`);
  return key;
}

/**
 * Returns a key's fingerprint as `ssh-keygen -l` writes it, to be compared with what its holder says by another way.
 * @throws Failure `malformed`
 */
export function fingerprintOf(line: string): string {
  const hash = createHash('sha256').update(parseSigningKey(line).blob).digest('base64');
  return `SHA256:${hash.replace(/=+$/, '')}`;
}

function keyOf(blob: Uint8Array): SigningKey {
  const reader = new Reader(blob);
  const type = keyTypes.find((name) => name === reader.peekText());
  if (type === undefined) throw new Failure('malformed', 'A release key is of Ed25519.');
  reader.string();
  const raw = reader.string();
  const application = type === 'ssh-ed25519' ? null : reader.text();
  reader.end();
  if (raw.length !== 32) throw new Failure('malformed', 'A key of Ed25519 has 32 bytes.');
  return { type, blob, raw, application };
}

/**
 * Verifies an armored signature (OpenSSH's PROTOCOL.sshsig) over a message.
 * @returns whether this key has made it, for {@link releaseNamespace}
 * @throws Failure `malformed` for what is no signature, or one in another form than OpenSSH writes
 */
export function isSignedBy(key: SigningKey, message: Uint8Array, armored: string): boolean {
  const reader = new Reader(fromArmor(armored));
  if (reader.bytes(magic.length).toString('latin1') !== magic || reader.number() !== 1) {
    throw new Failure('malformed', 'This is no SSH signature of version 1.');
  }
  const blob = reader.string();
  const namespace = reader.text();
  const reserved = reader.text();
  const hash = reader.text();
  const signature = reader.string();
  reader.end();
  const algorithm = hashes.find((name) => name === hash);
  if (algorithm === undefined || reserved !== '') {
    throw new Failure('malformed', 'This SSH signature uses what no release does.');
  }
  if (namespace !== releaseNamespace || !Buffer.from(blob).equals(key.blob)) return false;
  const signed = Buffer.concat([
    Buffer.from(magic),
    ...[namespace, reserved, hash, createHash(algorithm).update(message).digest()].map(lengthPrefixed),
  ]);
  return isOverSigned(key, signed, signature);
}

function isOverSigned(key: SigningKey, signed: Uint8Array, blob: Uint8Array): boolean {
  const reader = new Reader(blob);
  if (reader.text() !== key.type)
    throw new Failure('malformed', 'The signature is of another type than its key.');
  const signature = reader.string();
  if (signature.length !== 64) throw new Failure('malformed', 'A signature of Ed25519 has 64 bytes.');
  const publicKey = createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.raw).toString('base64url') },
  });
  if (key.application === null) {
    reader.end();
    return verify(null, signed, publicKey, signature);
  }
  // A security key signs the application's hash, that it was touched, and how often it has signed.
  const state = reader.bytes(5);
  reader.end();
  if (((state[0] ?? 0) & userPresent) === 0) return false;
  const hashOf = (content: Uint8Array | string) => createHash('sha256').update(content).digest();
  return verify(null, Buffer.concat([hashOf(key.application), state, hashOf(signed)]), publicKey, signature);
}

/** A string of RFC 4251, section 5: its length and its bytes. */
export function lengthPrefixed(content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

const begin = '-----BEGIN SSH SIGNATURE-----\n';
const end = '\n-----END SSH SIGNATURE-----\n';

function fromArmor(armored: string): Uint8Array {
  if (!armored.startsWith(begin) || !armored.endsWith(end)) {
    throw new Failure('malformed', 'This is no armored SSH signature.');
  }
  return fromBase64(armored.slice(begin.length, -end.length).replaceAll('\n', ''));
}

function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  // Node passes over what is no base64.
  if (bytes.toString('base64') !== text) throw new Failure('malformed', 'This is not base64.');
  return bytes;
}

/** Reads the fields of RFC 4251, section 5, of which none may be cut short and nothing may follow the last. */
class Reader {
  readonly #content: Buffer;
  #at = 0;

  constructor(content: Uint8Array) {
    this.#content = Buffer.from(content);
  }

  bytes(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#content.length) throw new Failure('malformed', 'This ends in the middle.');
    const part = this.#content.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  number(): number {
    return this.bytes(4).readUInt32BE();
  }

  string(): Buffer {
    return this.bytes(this.number());
  }

  text(): string {
    return this.string().toString('latin1');
  }

  peekText(): string {
    const at = this.#at;
    const text = this.text();
    this.#at = at;
    return text;
  }

  end(): void {
    if (this.#at !== this.#content.length)
      throw new Failure('malformed', 'Something follows the last field.');
  }
}
