import { type Credential, CryptoError, decodeKeyPackage, equalBytes } from '@sinetti/crypto-core';
import { type DeviceCertificate, readDeviceCertificate } from '@sinetti/crypto-core/account';
import type { AccountOnDevice } from '../session/session.ts';

/**
 * Reads the device certificate in a credential, without verifying its signature.
 * @throws CryptoError `invalid-credential`
 */
export function certificateOf(credential: Credential): DeviceCertificate {
  if (credential.type !== 'basic') throw new CryptoError('invalid-credential', 'not a device certificate');
  return readDeviceCertificate(credential.identity);
}

/**
 * Reads as {@link certificateOf} does, from leaves that nobody has checked; null for one that can't be read.
 */
export function readableCertificate(credential: Credential): DeviceCertificate | null {
  try {
    return certificateOf(credential);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/** Returns whether a leaf is of a device of this person's that an account key they have moved on from has certified. */
export function isOfFormerKey(
  { device, userId }: Pick<AccountOnDevice, 'device' | 'userId'>,
  credential: Credential,
): boolean {
  const certificate = readableCertificate(credential);
  return (
    certificate?.userId === userId &&
    device.formerAccountKeys.some((key) => equalBytes(key, certificate.accountKey))
  );
}

/**
 * Checks that a KeyPackage belongs to the device for which the relay handed it out.
 * @throws CryptoError `invalid-key-package`
 */
export function checkClaim(claimed: {
  readonly userId: string;
  readonly deviceId: string;
  readonly keyPackage: Uint8Array;
}): void {
  const { credential } = decodeKeyPackage(claimed.keyPackage).leafNode;
  const { userId, deviceId } = certificateOf(credential);
  if (userId !== claimed.userId || deviceId !== claimed.deviceId) {
    throw new CryptoError('invalid-key-package', 'of another device than the relay says');
  }
}
