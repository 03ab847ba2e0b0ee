import { isSignedStatement } from '../auth/signedContent.ts';
import { opaque } from '../opaque.ts';

const label = 'SinettiDeviceCertificate';
const version = 1;
const keyLength = 32;
const timeLength = 8;

/** The claims of a device certificate that the relay checks. Clients check all of it, whatever the relay says. */
export interface CertifiedDevice {
  readonly userId: string;
  readonly deviceId: string;
}

/**
 * The y-coordinates of the Ed25519 points of small order, without the sign, those that aren't reduced among them. Signatures
 * by such a key hold that nobody has made for the message.
 */
const smallOrder = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** Returns whether bytes may be an Ed25519 public key: 32 of them, and no point of small order. */
export function isPublicKey(key: Buffer): boolean {
  if (key.length !== keyLength) return false;
  const unsigned = Buffer.from(key);
  unsigned.writeUInt8(unsigned.readUInt8(keyLength - 1) & 0x7f, keyLength - 1);
  return !smallOrder.has(unsigned.toString('hex'));
}

/** The Ed25519 public key of a device by its certificate; null if that is none of this device, or has no key to sign with. */
export function deviceKeyOf(certificate: Buffer, device: CertifiedDevice): Buffer | null {
  const start = startOf(device);
  const key = certificate.subarray(start.length, start.length + keyLength);
  return certificate.subarray(0, start.length).equals(start) && isPublicKey(key) ? key : null;
}

/** The account key that a device's certificate names as its signer; null if that is none of this device. */
function accountKeyIn(certificate: Buffer, device: CertifiedDevice): Buffer | null {
  const start = startOf(device);
  const at = start.length + keyLength;
  if (!certificate.subarray(0, start.length).equals(start) || certificate[at] !== keyLength) return null;
  const key = certificate.subarray(at + 1, at + 1 + keyLength);
  return isPublicKey(key) ? key : null;
}

/**
 * Returns whether a statement revokes this device, signed by the account key that its certificate names: {uint8 version = 1,
 * opaque userId<V>, opaque deviceId<V>, opaque accountKey<V>, opaque signature<V>}.
 */
export function isRevocationOf(device: CertifiedDevice, certificate: Buffer, statement: Buffer): boolean {
  const accountKey = accountKeyIn(certificate, device);
  if (accountKey === null) return false;
  const fields = [Buffer.from(device.userId), Buffer.from(device.deviceId), accountKey];
  const body = Buffer.concat([Buffer.of(version), ...fields.map(opaque)]);
  return isSignedStatement(accountKey, 'SinettiDeviceRevocation', body, statement);
}

/**
 * Returns whether an account key has certified this device: in TLS presentation language the certificate is {uint8 version
 * = 1, opaque userId<V>, opaque deviceId<V>, opaque deviceKey<V>, opaque accountKey<V>, uint64 notBefore, opaque
 * signature<V>}, signed by SignWithLabel of RFC 9420 (section 5.1.2).
 */
export function isCertifiedBy(accountKey: Buffer, certificate: Buffer, device: CertifiedDevice): boolean {
  const start = startOf(device);
  const keyEnd = start.length + keyLength;
  const issuer = opaque(accountKey);
  const bodyEnd = keyEnd + issuer.length + timeLength;
  // All lengths are known, so that the certificate is compared rather than parsed.
  if (!certificate.subarray(0, start.length).equals(start)) return false;
  if (!certificate.subarray(keyEnd, keyEnd + issuer.length).equals(issuer)) return false;
  return isSignedStatement(accountKey, label, certificate.subarray(0, bodyEnd), certificate);
}

/** All that comes before the device's key. */
function startOf({ userId, deviceId }: CertifiedDevice): Buffer {
  return Buffer.concat([
    Buffer.of(version),
    opaque(Buffer.from(userId)),
    opaque(Buffer.from(deviceId)),
    Buffer.of(keyLength),
  ]);
}
