import { digest, toBase64 } from './canonical.ts';
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
export async function isSignedBy(key: SigningKey, message: Uint8Array, armored: string): Promise<boolean> {
  const reader = new Reader(fromArmor(armored));
  if (toLatin1(reader.bytes(magic.length)) !== magic || reader.number() !== 1) {
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
  if (namespace !== releaseNamespace || toBase64(blob) !== toBase64(key.blob)) return false;
  const hashed = await digest(algorithm === 'sha256' ? 'SHA-256' : 'SHA-512', message);
  const signed = joined([
    fromLatin1(magic),
    ...[fromLatin1(namespace), fromLatin1(reserved), fromLatin1(hash), hashed].map(lengthPrefixed),
  ]);
  return isOverSigned(key, signed, signature);
}

async function isOverSigned(key: SigningKey, signed: Uint8Array, blob: Uint8Array): Promise<boolean> {
  const reader = new Reader(blob);
  if (reader.text() !== key.type)
    throw new Failure('malformed', 'The signature is of another type than its key.');
  const signature = reader.string();
  if (signature.length !== 64) throw new Failure('malformed', 'A signature of Ed25519 has 64 bytes.');
  const publicKey = await crypto.subtle.importKey('raw', new Uint8Array(key.raw), 'Ed25519', false, [
    'verify',
  ]);
  const isOver = (content: Uint8Array) =>
    crypto.subtle.verify('Ed25519', publicKey, new Uint8Array(signature), new Uint8Array(content));
  if (key.application === null) {
    reader.end();
    return isOver(signed);
  }
  // A security key signs the application's hash, that it was touched, and how often it has signed.
  const state = reader.bytes(5);
  reader.end();
  if (((state[0] ?? 0) & userPresent) === 0) return false;
  const application = await digest('SHA-256', fromLatin1(key.application));
  return isOver(joined([application, state, await digest('SHA-256', signed)]));
}

/** A string of RFC 4251, section 5: its length and its bytes. */
export function lengthPrefixed(bytes: Uint8Array): Uint8Array {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return joined([length, bytes]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const toLatin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);
const fromLatin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

const begin = '-----BEGIN SSH SIGNATURE-----\n';
const end = '\n-----END SSH SIGNATURE-----\n';

function fromArmor(armored: string): Uint8Array {
  if (!armored.startsWith(begin) || !armored.endsWith(end)) {
    throw new Failure('malformed', 'This is no armored SSH signature.');
  }
  return fromBase64(armored.slice(begin.length, -end.length).replaceAll('\n', ''));
}

function fromBase64(text: string): Uint8Array {
  try {
    const decoded = atob(text);
    // It passes over spaces, and over bits that belong to no byte.
    if (btoa(decoded) === text) return fromLatin1(decoded);
  } catch {
    // It holds other characters.
  }
  throw new Failure('malformed', 'This is not base64.');
}

/** Reads the fields of RFC 4251, section 5, of which none may be cut short and nothing may follow the last. */
class Reader {
  readonly #content: Uint8Array;
  #at = 0;

  constructor(content: Uint8Array) {
    this.#content = content;
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#content.length) throw new Failure('malformed', 'This ends in the middle.');
    const part = this.#content.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  number(): number {
    const { buffer, byteOffset } = this.bytes(4);
    return new DataView(buffer, byteOffset).getUint32(0);
  }

  string(): Uint8Array {
    return this.bytes(this.number());
  }

  text(): string {
    return toLatin1(this.string());
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
