import { isSignedBy, signContent } from '../auth/signedContent.ts';
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

/** The Ed25519 public key of a device by its certificate; null if that is none of this device. */
export function deviceKeyOf(certificate: Buffer, device: CertifiedDevice): Buffer | null {
  const start = startOf(device);
  const key = certificate.subarray(start.length, start.length + keyLength);
  return certificate.subarray(0, start.length).equals(start) && key.length === keyLength ? key : null;
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
  const signature = certificate.subarray(bodyEnd + 2);
  if (!certificate.subarray(bodyEnd).equals(opaque(signature))) return false;
  return isSignedBy(accountKey, signContent(label, certificate.subarray(0, bodyEnd)), signature);
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
