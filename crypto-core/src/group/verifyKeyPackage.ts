/** Verification of KeyPackages (RFC 9420 section 10.1). */
import { equalBytes } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { toLeafIndex } from '../structs/indices.ts';
import { type KeyPackage, keyPackageTBS, type UnverifiedKeyPackage } from '../structs/keyPackage.ts';
import { verifyWithLabel } from '../suite/labels.ts';
import { checkNewLeaf, type LeafContext } from './validateLeaf.ts';

/**
 * Verifies a KeyPackage for the group of `context`.
 * KP-01: the cipher suite is the group's (the version is checked by the decoder).
 * KP-02: the signature holds.
 * KP-03: the init key differs from the leaf's encryption key.
 * Its leaf is checked as LEAF-… of source `key-package`.
 * @throws CryptoError 'invalid-key-package', 'bad-signature', 'invalid-leaf', 'invalid-credential'
 */
export function verifyKeyPackage(context: LeafContext, keyPackage: UnverifiedKeyPackage): KeyPackage {
  const { cipherSuite, initKey, leafNode, signature } = keyPackage;
  if (cipherSuite !== context.suite.id) {
    throw new CryptoError('invalid-key-package', `KP-01: cipher suite ${cipherSuite}`);
  }
  const content = keyPackageTBS(keyPackage);
  if (!verifyWithLabel(context.suite, leafNode.signatureKey, 'KeyPackageTBS', content, signature)) {
    throw new CryptoError('bad-signature', 'KP-02: key package');
  }
  if (equalBytes(initKey, leafNode.encryptionKey)) {
    throw new CryptoError('invalid-key-package', 'KP-03: init key is the encryption key');
  }
  // A leaf of this source signs no position, so any index will do.
  checkNewLeaf(context, leafNode, toLeafIndex(0), 'key-package', null);
  return keyPackage as KeyPackage;
}
