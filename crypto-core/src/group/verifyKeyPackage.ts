/** Verification of KeyPackages (RFC 9420 section 10.1). */
import { equalBytes } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { type KeyPackage, keyPackageTBS, type UnverifiedKeyPackage } from '../structs/keyPackage.ts';
import { verifyWithLabel } from '../suite/labels.ts';
import { areReadable } from './components.ts';
import { checkLeafAuthenticity, checkLeafForm, type LeafContext } from './validateLeaf.ts';

function refuse(check: string, detail: string): never {
  throw new CryptoError('invalid-key-package', `${check}: ${detail}`);
}

/**
 * Verifies a KeyPackage for the group of `context`.
 * KP-01: the cipher suite is the group's (the version is checked by the decoder).
 * KP-02: the signature holds.
 * KP-03: the init key differs from the leaf's encryption key.
 * KP-04 (section 5.1.1): a Welcome can be encrypted to the init key.
 * KP-05 (section 7.2): its extensions of known types can be read, so that it says plainly whether it is one of last resort.
 * Its leaf is checked as LEAF-… of source `key-package`.
 * @throws CryptoError 'invalid-key-package', 'bad-signature', 'invalid-leaf', 'invalid-credential'
 */
export function verifyKeyPackage(context: LeafContext, keyPackage: UnverifiedKeyPackage): KeyPackage {
  const { suite } = context;
  const { cipherSuite, extensions, initKey, leafNode, signature } = keyPackage;
  if (cipherSuite !== suite.id) refuse('KP-01', `cipher suite ${cipherSuite}`);
  if (equalBytes(initKey, leafNode.encryptionKey)) refuse('KP-03', 'init key is the encryption key');
  if (!suite.kem.isPublicKey(initKey)) refuse('KP-04', 'init key');
  if (!areReadable(extensions, context.limits)) refuse('KP-05', 'an extension');
  checkLeafForm(context, leafNode, null, 'key-package');
  const content = keyPackageTBS(keyPackage);
  if (!verifyWithLabel(suite, leafNode.signatureKey, 'KeyPackageTBS', content, signature)) {
    throw new CryptoError('bad-signature', 'KP-02: key package');
  }
  checkLeafAuthenticity(context, leafNode, null, null);
  return keyPackage as KeyPackage;
}
