import { type Credential, CryptoError, readDeviceCertificate } from '@sinetti/crypto-core';

/** The device certificate that a credential holds, its signature unchecked. @throws CryptoError `invalid-credential` */
export function certificateOf(credential: Credential): {
  userId: string;
  deviceId: string;
  accountKey: Uint8Array;
} {
  if (credential.type !== 'basic') throw new CryptoError('invalid-credential', 'not a device certificate');
  return readDeviceCertificate(credential.identity);
}
