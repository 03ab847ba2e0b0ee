/** The account identity key's word that a signature key belongs to one of its devices. */
import { equalBytes, fromUtf8, utf8 } from '../bytes.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { signWithLabel, verifyWithLabel } from '../suite/labels.ts';
import { getSuite } from '../suite/suites.ts';

export interface DeviceCertificate {
  readonly userId: string;
  readonly deviceId: string;
  /** The device's Ed25519 public key: the signature key of its leaves. */
  readonly deviceKey: Uint8Array;
  /** The Ed25519 public key that signed. */
  readonly accountKey: Uint8Array;
  /** Seconds since the Unix epoch, as in an MLS lifetime. */
  readonly notBefore: bigint;
}

declare const verified: unique symbol;

/** A certificate whose signature held. Whether its account key is the right one is the reader's to decide. */
export type VerifiedDeviceCertificate = DeviceCertificate & { readonly [verified]: true };

const VERSION = 1;
const LABEL = 'SinettiDeviceCertificate';
const MAX_ID_LENGTH = 128;
const KEY_LENGTH = 32;

// Account keys are Ed25519 whatever suite a conversation runs.
const suite = getSuite(0x0003);

/**
 * @param accountSeed 32-byte seed of the account identity key
 * @throws CryptoError 'usage' for an id that is empty or longer than 128 bytes, or a key of a wrong length
 */
export function issueDeviceCertificate(
  accountSeed: Uint8Array,
  device: Pick<DeviceCertificate, 'userId' | 'deviceId' | 'deviceKey' | 'notBefore'>,
): Uint8Array {
  const accountKey = suite.signatureKeyPair(accountSeed).publicKey;
  const body = encode({ ...device, accountKey }, writeBody);
  const signature = signWithLabel(suite, accountSeed, LABEL, body);
  const bytes = encode(signature, (writer, value) => {
    writer.bytes(body);
    writer.opaque(value);
  });
  try {
    readDeviceCertificate(bytes);
  } catch {
    throw new CryptoError('usage', 'a device certificate that nobody would accept');
  }
  return bytes;
}

/** What a certificate claims, its signature unchecked. @throws CryptoError 'malformed', 'unsupported' */
export function readDeviceCertificate(bytes: Uint8Array): DeviceCertificate {
  return decode(bytes, readSigned).certificate;
}

/** @throws CryptoError 'malformed', 'unsupported', 'invalid-credential' when the signature doesn't hold */
export function verifyDeviceCertificate(bytes: Uint8Array): VerifiedDeviceCertificate {
  const { certificate, body, signature } = decode(bytes, readSigned);
  if (!verifyWithLabel(suite, certificate.accountKey, LABEL, body, signature)) {
    throw new CryptoError('invalid-credential', 'device certificate signature');
  }
  return certificate as VerifiedDeviceCertificate;
}

/**
 * Whether a leaf may stand in a tree: its credential is a certificate whose signature holds, which names the leaf's
 * signature key, and which the account key pinned for that person made.
 * @param leaf `identity` is the identity of the leaf's basic credential
 * @param pinnedAccountKey the account key pinned for a user id, undefined for a stranger
 * @throws CryptoError 'invalid-credential', whatever is wrong
 */
export function checkDeviceCredential(
  leaf: { readonly identity: Uint8Array; readonly signatureKey: Uint8Array },
  pinnedAccountKey: (userId: string) => Uint8Array | undefined,
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

function writeBody(writer: Writer, certificate: DeviceCertificate): void {
  writer.u8(VERSION);
  writer.opaque(utf8(certificate.userId));
  writer.opaque(utf8(certificate.deviceId));
  writer.opaque(certificate.deviceKey);
  writer.opaque(certificate.accountKey);
  writer.u64(certificate.notBefore);
}

function readSigned(reader: Reader): {
  certificate: DeviceCertificate;
  body: Uint8Array;
  signature: Uint8Array;
} {
  const start = reader.offset;
  const version = reader.u8();
  if (version !== VERSION) throw new CryptoError('unsupported', `device certificate version ${version}`);
  const certificate = {
    userId: readId(reader),
    deviceId: readId(reader),
    deviceKey: readKey(reader),
    accountKey: readKey(reader),
    notBefore: reader.u64(),
  };
  return { certificate, body: reader.since(start), signature: reader.opaque() };
}

function readId(reader: Reader): string {
  const bytes = reader.opaque();
  if (bytes.length === 0 || bytes.length > MAX_ID_LENGTH) throw new CryptoError('malformed', 'id length');
  return fromUtf8(bytes);
}

function readKey(reader: Reader): Uint8Array {
  const bytes = reader.opaque();
  if (bytes.length !== KEY_LENGTH) throw new CryptoError('malformed', 'key length');
  return bytes.slice();
}
