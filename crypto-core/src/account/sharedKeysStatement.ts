/**
 * Shared keys signed by the account identity key: whoever drew them had the vault open. So a device can take them from
 * another one, without its person's password, and believe nobody who has no more than a device's own keys.
 */
import { utf8 } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import {
  MAX_REVISION,
  newestSharedKeys,
  readSharedKeys,
  type SharedKeys,
  writeSharedKeys,
} from './sharedKeys.ts';
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
  /** The revision of the keys before these; 0 where there were none. */
  readonly formerRevision: number;
  readonly keys: SharedKeys;
}

const FORMAT: StatementFormat<SharedKeysStatement> = {
  name: 'shared keys',
  label: 'SinettiSharedKeys',
  version: 1,
  write(writer, statement) {
    writer.opaque(utf8(statement.userId));
    writer.opaque(statement.accountKey);
    writer.u32(statement.formerRevision);
    writeSharedKeys(writer, statement.keys);
  },
  read(reader) {
    const statement = {
      userId: readId(reader),
      accountKey: readKey(reader),
      formerRevision: reader.u32(),
      keys: readSharedKeys(reader),
    };
    const { revision } = statement.keys;
    if (revision <= statement.formerRevision || revision > MAX_REVISION) {
      throw new CryptoError('malformed', 'revision of shared keys');
    }
    return statement;
  },
};

/**
 * Signs the newest of these keys alone: whoever gets the statement opens nothing that was sealed under those before.
 * @param accountSeed 32-byte seed of the account identity key
 * @param sharedKeys all that the vault has, oldest first
 * @returns a secret, since the keys are in it; null for an account from before keys had revisions
 * @throws CryptoError 'usage' for an id that is empty or longer than 128 bytes, keys out of order, or none
 */
export function signSharedKeys(
  accountSeed: Uint8Array,
  userId: string,
  sharedKeys: readonly SharedKeys[],
): Uint8Array | null {
  const keys = newestSharedKeys(sharedKeys);
  if (keys.revision === 0) return null;
  const formerRevision = sharedKeys.at(-2)?.revision ?? 0;
  const statement = { userId, accountKey: publicKeyOf(accountSeed), formerRevision, keys };
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
