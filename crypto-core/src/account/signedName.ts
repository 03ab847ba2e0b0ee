/** Names that their owner's devices sign: so that a relay can't give one person's name to another (PROTOCOL section 3). */
import { fromUtf8, utf8 } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { type VerifiedDeviceCertificate, verifyDeviceCertificate } from './deviceCertificate.ts';
import { readBounded, readStatement, type StatementFormat, signStatement } from './signedStatement.ts';

export interface SignedName {
  /** The certificate of the device that signs, which names its person. */
  readonly certificate: Uint8Array;
  readonly username: string;
  /** The name with the higher revision counts; of equal ones that of the higher device id. */
  readonly revision: number;
}

const MAX_NAME_LENGTH = 256;

const FORMAT: StatementFormat<SignedName> = {
  name: 'signed name',
  label: 'SinettiSignedName',
  version: 1,
  write(writer, { certificate, revision, username }) {
    writer.opaque(certificate);
    writer.opaque(utf8(username));
    writer.u32(revision);
  },
  read: (reader) => ({
    certificate: reader.opaque(),
    username: fromUtf8(readBounded(reader, 1, MAX_NAME_LENGTH, 'name length')),
    revision: reader.u32(),
  }),
};

/**
 * Signs the name that a person goes by.
 * @param signatureKey Ed25519 private key of the device
 * @throws CryptoError 'usage' for a name that is empty or longer than 256 bytes
 */
export function signName(name: SignedName, signatureKey: Uint8Array): Uint8Array {
  return signStatement(FORMAT, name, signatureKey, 'a name that nobody would accept');
}

/**
 * Reads a signed name and verifies it by its device's certificate. The caller decides whether the account key is the right one.
 * @throws CryptoError 'malformed', 'unsupported', 'bad-signature'; 'invalid-credential' for a certificate that doesn't hold
 */
export function verifyName(bytes: Uint8Array): {
  readonly signer: VerifiedDeviceCertificate;
  readonly username: string;
  readonly revision: number;
} {
  const { statement, isSignedBy } = readStatement(FORMAT, bytes);
  const signer = verifyDeviceCertificate(statement.certificate);
  if (!isSignedBy(signer.deviceKey)) throw new CryptoError('bad-signature', 'signed name');
  return { signer, username: statement.username, revision: statement.revision };
}
