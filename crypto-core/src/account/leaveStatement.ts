/** Leave statements: a device signs that its person leaves a group, as grounds to remove all their devices. */
import { utf8 } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import {
  readBounded,
  readId,
  readStatement,
  type StatementFormat,
  signStatement,
} from './signedStatement.ts';

export interface LeaveStatement {
  readonly groupId: Uint8Array;
  readonly userId: string;
  readonly deviceId: string;
  /** The epoch that the device was in when it signed. */
  readonly epoch: bigint;
  /**
   * `leafRef` of that device's leaf, with LEAF_REF_LABEL. A leaf that is added again has another one, so that a
   * statement can't be used twice, and every member can tell.
   */
  readonly leafRef: Uint8Array;
}

/** The label by which statements name leaves. */
export const LEAF_REF_LABEL = 'Sinetti Leaf Reference';

const MAX_GROUP_ID_LENGTH = 256;
const LEAF_REF_LENGTH = 32;
const WRONG_LENGTH = 'leave statement field length';

const FORMAT: StatementFormat<LeaveStatement> = {
  name: 'leave statement',
  label: 'SinettiGroupLeave',
  version: 1,
  write(writer, statement) {
    writer.opaque(statement.groupId);
    writer.opaque(utf8(statement.userId));
    writer.opaque(utf8(statement.deviceId));
    writer.u64(statement.epoch);
    writer.opaque(statement.leafRef);
  },
  read: (reader) => ({
    groupId: readBounded(reader, 1, MAX_GROUP_ID_LENGTH, WRONG_LENGTH),
    userId: readId(reader, WRONG_LENGTH),
    deviceId: readId(reader, WRONG_LENGTH),
    epoch: reader.u64(),
    leafRef: readBounded(reader, LEAF_REF_LENGTH, LEAF_REF_LENGTH, WRONG_LENGTH),
  }),
};

/**
 * Signs that a device leaves a group.
 * @param signaturePrivateKey of the device, whose leaf in the group names the public half
 * @throws CryptoError 'usage' for a statement that nobody would accept
 */
export function signLeaveStatement(statement: LeaveStatement, signaturePrivateKey: Uint8Array): Uint8Array {
  return signStatement(FORMAT, statement, signaturePrivateKey, 'a leave statement that nobody would accept');
}

/** Reads the claims of a statement without checking its signature. @throws CryptoError 'malformed', 'unsupported' */
export function readLeaveStatement(bytes: Uint8Array): LeaveStatement {
  return readStatement(FORMAT, bytes).statement;
}

/**
 * Reads a statement and verifies its signature.
 * @param signatureKey of the leaf that the statement names
 * @throws CryptoError 'malformed', 'unsupported', 'bad-signature'
 */
export function verifyLeaveStatement(bytes: Uint8Array, signatureKey: Uint8Array): LeaveStatement {
  const { statement, isSignedBy } = readStatement(FORMAT, bytes);
  if (!isSignedBy(signatureKey)) throw new CryptoError('bad-signature', 'leave statement');
  return statement;
}
