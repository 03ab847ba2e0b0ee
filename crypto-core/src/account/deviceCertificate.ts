/** Device certificates: the account identity key signs that a signature key belongs to one of its devices. */
import { equalBytes, utf8 } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import {
  publicKeyOf,
  readId,
  readKey,
  readStatement,
  type StatementFormat,
  signStatement,
} from './signedStatement.ts';

export interface DeviceCertificate {
  readonly userId: string;
  readonly deviceId: string;
  /** The device's Ed25519 public key: the signature key of its leaves. */
  readonly deviceKey: Uint8Array;
  /** The Ed25519 public key that signed. */
  readonly accountKey: Uint8Array;
  /** Seconds since the Unix epoch, as in an MLS lifetime. Nobody adds the device before. */
  readonly notBefore: bigint;
}

/** The clock of the device that issued a certificate may be ahead of this one's by as much: a day. */
const CLOCK_DIFFERENCE_SECONDS = 24n * 60n * 60n;

declare const verified: unique symbol;

/** A certificate whose signature held. The caller decides whether its account key is the right one. */
export type VerifiedDeviceCertificate = DeviceCertificate & { readonly [verified]: true };

const FORMAT: StatementFormat<DeviceCertificate> = {
  name: 'device certificate',
  label: 'SinettiDeviceCertificate',
  version: 1,
  write(writer, certificate) {
    writer.opaque(utf8(certificate.userId));
    writer.opaque(utf8(certificate.deviceId));
    writer.opaque(certificate.deviceKey);
    writer.opaque(certificate.accountKey);
    writer.u64(certificate.notBefore);
  },
  read: (reader) => ({
    userId: readId(reader),
    deviceId: readId(reader),
    deviceKey: readKey(reader),
    accountKey: readKey(reader),
    notBefore: reader.u64(),
  }),
};

/**
 * Certifies a device's key as one of the account.
 * @param accountSeed 32-byte seed of the account identity key
 * @throws CryptoError 'usage' for an id that is empty or longer than 128 bytes, or a key of a wrong length
 */
export function issueDeviceCertificate(
  accountSeed: Uint8Array,
  device: Pick<DeviceCertificate, 'userId' | 'deviceId' | 'deviceKey' | 'notBefore'>,
): Uint8Array {
  const certificate = { ...device, accountKey: publicKeyOf(accountSeed) };
  return signStatement(FORMAT, certificate, accountSeed, 'a device certificate that nobody would accept');
}

/**
 * Reads the claims of a certificate without checking its signature.
 * @throws CryptoError 'malformed', 'unsupported'
 */
export function readDeviceCertificate(bytes: Uint8Array): DeviceCertificate {
  return readStatement(FORMAT, bytes).statement;
}

/**
 * Reads a certificate and verifies that the account key in it has signed it. The caller decides whether that is the right one.
 * @throws CryptoError 'malformed', 'unsupported', 'invalid-credential' when the signature doesn't hold
 */
export function verifyDeviceCertificate(bytes: Uint8Array): VerifiedDeviceCertificate {
  const { statement: certificate, isSignedBy } = readStatement(FORMAT, bytes);
  if (!isSignedBy(certificate.accountKey)) {
    throw new CryptoError('invalid-credential', 'device certificate signature');
  }
  return certificate as VerifiedDeviceCertificate;
}

/**
 * Checks that a leaf may stand in a tree: its credential is a certificate that names the leaf's signature key and that
 * the account key pinned for its person has signed.
 * @param leaf `identity` is the identity of the leaf's basic credential
 * @param pinnedAccountKey the account key pinned for a user id, undefined for a stranger
 * @param now seconds since the Unix epoch, when this client is about to add the device; null for a leaf that others added
 * @throws CryptoError 'invalid-credential', whatever is wrong
 */
export function checkDeviceCredential(
  leaf: { readonly identity: Uint8Array; readonly signatureKey: Uint8Array },
  pinnedAccountKey: (userId: string) => Uint8Array | undefined,
  now: bigint | null,
): VerifiedDeviceCertificate {
  const certificate = verifyAsCredential(leaf.identity);
  if (!equalBytes(certificate.deviceKey, leaf.signatureKey)) {
    throw new CryptoError('invalid-credential', 'certificate of another signature key');
  }
  const pinned = pinnedAccountKey(certificate.userId);
  if (pinned === undefined) throw new CryptoError('invalid-credential', 'no account key pinned');
  if (!equalBytes(certificate.accountKey, pinned)) {
    throw new CryptoError('invalid-credential', 'not the pinned account key');
  }
  if (now !== null && certificate.notBefore > now + CLOCK_DIFFERENCE_SECONDS) {
    throw new CryptoError('invalid-credential', 'certificate that is not valid yet');
  }
  return certificate;
}

function verifyAsCredential(identity: Uint8Array): VerifiedDeviceCertificate {
  try {
    return verifyDeviceCertificate(identity);
  } catch (error) {
    if (error instanceof CryptoError) throw new CryptoError('invalid-credential', error.message);
    throw error;
  }
}
