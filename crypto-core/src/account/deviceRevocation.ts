/** Device revocations: the account identity key signs that a device is no longer its own, as grounds to remove it. */
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
  /** The Ed25519 public key that signed. The device's certificate has the same one. */
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
 * Signs that a device is one of the account no longer.
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
 * Reads a revocation and verifies its signature. The caller decides whether its account key is the right one.
 * @throws CryptoError 'malformed', 'unsupported', 'bad-signature'
 */
export function verifyDeviceRevocation(bytes: Uint8Array): DeviceRevocation {
  const { statement: revocation, isSignedBy } = readStatement(FORMAT, bytes);
  if (!isSignedBy(revocation.accountKey)) throw new CryptoError('bad-signature', 'device revocation');
  return revocation;
}
