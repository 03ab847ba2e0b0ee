/** Signed statements of accounts and devices: a version, the fields, and a signature over a label and both. */
import { fromUtf8 } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { signWithLabel, verifyWithLabel } from '../suite/labels.ts';
import { getSuite } from '../suite/suites.ts';

export interface StatementFormat<T> {
  /** The name in error messages. */
  readonly name: string;
  /** Keeps a statement of one kind from being taken for one of another. */
  readonly label: string;
  readonly version: number;
  readonly write: (writer: Writer, statement: T) => void;
  readonly read: (reader: Reader) => T;
}

export interface ReadStatement<T> {
  /** The claims, of which only the form is checked. */
  readonly statement: T;
  /** Returns whether this Ed25519 key signed the statement. */
  readonly isSignedBy: (publicKey: Uint8Array) => boolean;
}

const MAX_ID_LENGTH = 128;
const KEY_LENGTH = 32;

// Accounts and devices sign with Ed25519 whatever suite a conversation runs.
const suite = getSuite(0x0003);

/** The Ed25519 public key of a private one. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return suite.signatureKeyPair(privateKey).publicKey;
}

/** @throws CryptoError 'usage', with `refusal`, for a statement that `readStatement` would not accept */
export function signStatement<T>(
  format: StatementFormat<T>,
  statement: T,
  privateKey: Uint8Array,
  refusal: string,
): Uint8Array {
  const body = encode(statement, (writer, fields) => {
    writer.u8(format.version);
    format.write(writer, fields);
  });
  const signature = signWithLabel(suite, privateKey, format.label, body);
  const bytes = encode(signature, (writer, value) => {
    writer.bytes(body);
    writer.opaque(value);
  });
  try {
    readStatement(format, bytes);
  } catch {
    throw new CryptoError('usage', refusal);
  }
  return bytes;
}

/** @throws CryptoError 'malformed', 'unsupported' */
export function readStatement<T>(format: StatementFormat<T>, bytes: Uint8Array): ReadStatement<T> {
  return decode(bytes, (reader) => {
    const start = reader.offset;
    const version = reader.u8();
    if (version !== format.version) {
      throw new CryptoError('unsupported', `${format.name} version ${version}`);
    }
    const statement = format.read(reader);
    const body = reader.since(start);
    const signature = reader.opaque();
    return {
      statement,
      isSignedBy: (publicKey) => verifyWithLabel(suite, publicKey, format.label, body, signature),
    };
  });
}

/** opaque<V> of a length from `min` to `max`, in an array of its own. @throws CryptoError 'malformed', with `problem` */
export function readBounded(reader: Reader, min: number, max: number, problem: string): Uint8Array {
  const bytes = reader.opaque();
  if (bytes.length < min || bytes.length > max) throw new CryptoError('malformed', problem);
  return bytes.slice();
}

/** @throws CryptoError 'malformed' */
export function readId(reader: Reader, problem = 'id length'): string {
  return fromUtf8(readBounded(reader, 1, MAX_ID_LENGTH, problem));
}

/** @throws CryptoError 'malformed' */
export function readKey(reader: Reader): Uint8Array {
  return readBounded(reader, KEY_LENGTH, KEY_LENGTH, 'key length');
}
