import type { CryptoErrorCode } from '@sinetti/crypto-core';
import type { UndecryptableReason } from '../api/cryptoApi.ts';

/**
 * The reason that a person sees for an entry that was refused with a code (PROTOCOL section 8).
 * `corrupt-record` means that this device's own state can't be read back. Codes that no entry can cause count
 * as damaged.
 */
export const reasonOfCode: Readonly<
  Record<CryptoErrorCode, Exclude<UndecryptableReason, 'before-join' | 'deleted'>>
> = {
  malformed: 'damaged',
  unsupported: 'damaged',
  'wrong-group': 'damaged',
  'wrong-epoch': 'damaged',
  'unknown-sender': 'unknown-device',
  'bad-signature': 'damaged',
  'bad-membership-tag': 'damaged',
  'bad-confirmation-tag': 'damaged',
  'decrypt-failed': 'damaged',
  replayed: 'damaged',
  'generation-too-far': 'damaged',
  'invalid-leaf': 'rules',
  'invalid-tree': 'rules',
  'invalid-proposal': 'rules',
  'invalid-commit': 'rules',
  'invalid-key-package': 'rules',
  'invalid-credential': 'unknown-device',
  policy: 'rules',
  'missing-key': 'damaged',
  'missing-proposal': 'rules',
  'missing-psk': 'rules',
  'missing-tree': 'damaged',
  'own-message': 'rules',
  removed: 'rules',
  'corrupt-record': 'storage-erased',
  'key-exhausted': 'damaged',
  'wrong-password': 'damaged',
  'bad-recovery-key': 'damaged',
  usage: 'damaged',
};
