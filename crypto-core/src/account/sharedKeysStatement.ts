/**
 * Shared keys signed by the account identity key: whoever drew them had the vault open. So a device can take them from
 * another one, without its person's password, and believe nobody who has no more than a device's own keys.
 */
import { utf8 } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { newestSharedKeys, readSharedKeys, type SharedKeys, writeSharedKeys } from './sharedKeys.ts';
import {
  publicKeyOf,
  readId,
  readKey,
  readStatement,
  type StatementFormat,
  signStatement,
} from './signedStatement.ts';

export interface SharedKeysStatement {
  readonly userId: string;
  /** The Ed25519 public key that signed. */
  readonly accountKey: Uint8Array;
  /** The newest keys of the vault, oldest first; at most `MAX_STATED_KEYS`. */
  readonly sharedKeys: readonly SharedKeys[];
}

/** A device that has missed more renewals than this asks for the password. */
const MAX_STATED_KEYS = 64;

const FORMAT: StatementFormat<SharedKeysStatement> = {
  name: 'shared keys',
  label: 'SinettiSharedKeys',
  version: 1,
  write(writer, statement) {
    writer.opaque(utf8(statement.userId));
    writer.opaque(statement.accountKey);
    writer.vector(statement.sharedKeys, writeSharedKeys);
  },
  read(reader) {
    const userId = readId(reader);
    const accountKey = readKey(reader);
    const sharedKeys = reader.unlimitedVector(readSharedKeys);
    if (sharedKeys.length === 0 || sharedKeys.length > MAX_STATED_KEYS) {
      throw new CryptoError('malformed', 'number of shared keys');
    }
    for (const [i, { revision }] of sharedKeys.entries()) {
      const before = sharedKeys[i - 1]?.revision ?? -1;
      if (revision <= before) throw new CryptoError('malformed', 'order of shared keys');
    }
    return { userId, accountKey, sharedKeys };
  },
};

/**
 * @param accountSeed 32-byte seed of the account identity key
 * @param sharedKeys all that the vault has, oldest first; the statement has the newest of them
 * @returns a secret, since the keys are in it; null for an account from before keys had revisions
 * @throws CryptoError 'usage' for an id that is empty or longer than 128 bytes, or without keys
 */
export function signSharedKeys(
  accountSeed: Uint8Array,
  userId: string,
  sharedKeys: readonly SharedKeys[],
): Uint8Array | null {
  if (newestSharedKeys(sharedKeys).revision === 0) return null;
  const statement = {
    userId,
    accountKey: publicKeyOf(accountSeed),
    sharedKeys: sharedKeys.slice(-MAX_STATED_KEYS),
  };
  return signStatement(FORMAT, statement, accountSeed, 'shared keys that nobody would accept');
}

/**
 * Reads the keys and verifies the signature. The caller decides whether the person and the account key are the right ones.
 * @throws CryptoError 'malformed', 'unsupported', 'bad-signature'
 */
export function verifySharedKeys(bytes: Uint8Array): SharedKeysStatement {
  const { statement, isSignedBy } = readStatement(FORMAT, bytes);
  if (!isSignedBy(statement.accountKey)) throw new CryptoError('bad-signature', 'shared keys');
  return statement;
}
