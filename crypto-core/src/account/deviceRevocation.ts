/** The account identity key's word that one of its devices is none any more: whoever holds it may remove the device. */
import { utf8 } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import {
  publicKeyOf,
  readId,
  readKey,
  readStatement,
  type StatementFormat,
  signStatement,
} from './signedStatement.ts';

export interface DeviceRevocation {
  readonly userId: string;
  readonly deviceId: string;
  /** The Ed25519 public key that signed: that of the device's certificate, too. */
  readonly accountKey: Uint8Array;
}

const FORMAT: StatementFormat<DeviceRevocation> = {
  name: 'device revocation',
  label: 'SinettiDeviceRevocation',
  version: 1,
  write(writer, revocation) {
    writer.opaque(utf8(revocation.userId));
    writer.opaque(utf8(revocation.deviceId));
    writer.opaque(revocation.accountKey);
  },
  read: (reader) => ({ userId: readId(reader), deviceId: readId(reader), accountKey: readKey(reader) }),
};

/**
 * @param accountSeed 32-byte seed of the account identity key
 * @throws CryptoError 'usage' for an id that is empty or longer than 128 bytes
 */
export function signDeviceRevocation(
  accountSeed: Uint8Array,
  device: Pick<DeviceRevocation, 'userId' | 'deviceId'>,
): Uint8Array {
  const revocation = { ...device, accountKey: publicKeyOf(accountSeed) };
  return signStatement(FORMAT, revocation, accountSeed, 'a revocation that nobody would accept');
}

/**
 * What a revocation says, its signature checked. Whether its account key is the right one is the reader's to decide.
 * @throws CryptoError 'malformed', 'unsupported', 'bad-signature'
 */
export function verifyDeviceRevocation(bytes: Uint8Array): DeviceRevocation {
  const { statement: revocation, isSignedBy } = readStatement(FORMAT, bytes);
  if (!isSignedBy(revocation.accountKey)) throw new CryptoError('bad-signature', 'device revocation');
  return revocation;
}
