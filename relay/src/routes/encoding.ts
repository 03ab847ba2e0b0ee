import type { RotatedVault } from '../../contract/index.ts';
import type { VaultRotation } from '../accounts/vaultRotation.ts';

/** base64url, as the contract has bytes, to bytes. */
export const bytes = (base64Url: string) => Buffer.from(base64Url, 'base64url');

/** Bytes to base64url. */
export const text = (content: Buffer) => content.toString('base64url');

/** Milliseconds since the epoch to RFC 3339. */
export const time = (milliseconds: number) => new Date(milliseconds).toISOString();

export function rotationOf({
  version,
  sealedVault,
  passwordWrap,
  recoveryWrap,
}: RotatedVault): VaultRotation {
  return {
    version,
    sealedVault: bytes(sealedVault),
    passwordWrap: bytes(passwordWrap),
    recoveryWrap: recoveryWrap === null ? null : bytes(recoveryWrap),
  };
}
