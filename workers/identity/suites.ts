import { CryptoError, decodeKeyPackage } from '@sinetti/crypto-core';
import { type KeyPackageSuite, keyPackageSuites } from '../api/arguments.ts';

/**
 * Returns the suite of a conversation that begins with these KeyPackages; with none, the first.
 * @throws CryptoError `invalid-key-package` for KeyPackages of several suites, or of one in which no conversation begins
 */
export function suiteOfStart(keyPackages: readonly Uint8Array[]): KeyPackageSuite {
  const [found = keyPackageSuites[0], ...others] = new Set(
    keyPackages.map((keyPackage) => decodeKeyPackage(keyPackage).cipherSuite),
  );
  const suite = keyPackageSuites.find((known) => known === found);
  if (suite === undefined || others.length > 0)
    throw new CryptoError('invalid-key-package', `KP-01: of suites ${[found, ...others].join(', ')}`);
  return suite;
}
