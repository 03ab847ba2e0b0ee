/** A person's word, signed by one of their devices, that they leave a group: whoever holds it may remove them. */
import { fromUtf8, utf8 } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { signWithLabel, verifyWithLabel } from '../suite/labels.ts';
import { getSuite } from '../suite/suites.ts';

export interface LeaveStatement {
  readonly groupId: Uint8Array;
  readonly userId: string;
  readonly deviceId: string;
  /** The epoch that the device was in when it signed. */
  readonly epoch: bigint;
  /**
   * `leafRef` of that device's leaf: a leaf that is added again is another one, so that a statement can't be used a second
   * time, and everybody in the group can tell.
   */
  readonly leafRef: Uint8Array;
}

const VERSION = 1;
const LABEL = 'SinettiGroupLeave';
const MAX_ID_LENGTH = 128;
const MAX_GROUP_ID_LENGTH = 256;
const LEAF_REF_LENGTH = 32;

// Devices sign with Ed25519 whatever suite a conversation runs.
const suite = getSuite(0x0003);

/** @param signaturePrivateKey the device's, which its leaf in the group names the public half of */
export function signLeaveStatement(statement: LeaveStatement, signaturePrivateKey: Uint8Array): Uint8Array {
  const body = encode(statement, writeBody);
  const signature = signWithLabel(suite, signaturePrivateKey, LABEL, body);
  const bytes = encode(signature, (writer, value) => {
    writer.bytes(body);
    writer.opaque(value);
  });
  try {
    readLeaveStatement(bytes);
  } catch {
    throw new CryptoError('usage', 'a leave statement that nobody would accept');
  }
  return bytes;
}

/** What a statement claims, its signature unchecked. @throws CryptoError 'malformed', 'unsupported' */
export function readLeaveStatement(bytes: Uint8Array): LeaveStatement {
  return decode(bytes, readSigned).statement;
}

/**
 * @param signatureKey that of the leaf which the statement names
 * @throws CryptoError 'malformed', 'unsupported', 'bad-signature'
 */
export function verifyLeaveStatement(bytes: Uint8Array, signatureKey: Uint8Array): LeaveStatement {
  const { statement, body, signature } = decode(bytes, readSigned);
  if (!verifyWithLabel(suite, signatureKey, LABEL, body, signature)) {
    throw new CryptoError('bad-signature', 'leave statement');
  }
  return statement;
}

/** The authenticated data of a commit that removes who left: `opaque statements<V><V>`. */
export function encodeLeaveStatements(statements: readonly Uint8Array[]): Uint8Array {
  return encode(statements, (writer, list) => writer.vector(list, (w, statement) => w.opaque(statement)));
}

/** No bytes at all stand for no statements. @throws CryptoError 'malformed' */
export function decodeLeaveStatements(authenticatedData: Uint8Array): Uint8Array[] {
  if (authenticatedData.length === 0) return [];
  return decode(authenticatedData, (reader) => reader.vector((r) => r.opaque()));
}

function writeBody(writer: Writer, statement: LeaveStatement): void {
  writer.u8(VERSION);
  writer.opaque(statement.groupId);
  writer.opaque(utf8(statement.userId));
  writer.opaque(utf8(statement.deviceId));
  writer.u64(statement.epoch);
  writer.opaque(statement.leafRef);
}

function readSigned(reader: Reader): {
  statement: LeaveStatement;
  body: Uint8Array;
  signature: Uint8Array;
} {
  const start = reader.offset;
  const version = reader.u8();
  if (version !== VERSION) throw new CryptoError('unsupported', `leave statement version ${version}`);
  const statement = {
    groupId: readBounded(reader, MAX_GROUP_ID_LENGTH),
    userId: fromUtf8(readBounded(reader, MAX_ID_LENGTH)),
    deviceId: fromUtf8(readBounded(reader, MAX_ID_LENGTH)),
    epoch: reader.u64(),
    leafRef: readBounded(reader, LEAF_REF_LENGTH, LEAF_REF_LENGTH),
  };
  return { statement, body: reader.since(start), signature: reader.opaque() };
}

function readBounded(reader: Reader, maxLength: number, minLength = 1): Uint8Array {
  const bytes = reader.opaque();
  if (bytes.length < minLength || bytes.length > maxLength) {
    throw new CryptoError('malformed', 'leave statement field length');
  }
  return bytes.slice();
}
