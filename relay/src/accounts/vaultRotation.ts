import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { findVault, replaceVault } from '../repositories/vaults.ts';

/** A vault under a new vault key, with new keys in it. */
export interface VaultRotation {
  /** The version that it replaces. */
  readonly version: number;
  readonly sealedVault: Buffer;
  readonly passwordWrap: Buffer;
  /** Null takes the recovery key away. */
  readonly recoveryWrap: Buffer | null;
}

/**
 * Puts the vault in the place of the one so far. The recovery key signs in as before, unless there is none any more.
 * @throws ApiError stale-version
 */
export async function rotateVault(
  tx: Db,
  userId: string,
  { version, ...vault }: VaultRotation,
  now: number,
): Promise<void> {
  const recovery = vault.recoveryWrap === null ? null : undefined;
  const change = { ...vault, version: version + 1, recovery };
  if (!(await replaceVault(tx, userId, change, now))) throw await staleVersion(tx, userId);
}

/** Carries the stored version; 0 says that there is no vault. */
export async function staleVersion(db: Db, userId: string): Promise<ApiError> {
  return new ApiError('stale-version', 'The vault has been changed from another device.', {
    version: (await findVault(db, userId))?.version ?? 0,
  });
}
