import type { Db } from '../db/tables.ts';

export interface VaultRow {
  readonly version: number;
  readonly sealedVault: Buffer;
  readonly passwordWrap: Buffer;
  readonly recoveryWrap: Buffer | null;
}

export async function findVault(db: Db, userId: string): Promise<VaultRow | null> {
  const row = await db
    .selectFrom('vaults')
    .select(['version', 'sealed_vault', 'password_wrap', 'recovery_wrap'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    version: row.version,
    sealedVault: row.sealed_vault,
    passwordWrap: row.password_wrap,
    recoveryWrap: row.recovery_wrap,
  };
}

/** Argon2id (PHC string) of the key that the recovery key signs in by; null if there is none. */
export async function findRecoveryHash(db: Db, userId: string): Promise<string | null> {
  const row = await db
    .selectFrom('vaults')
    .select('recovery_auth_hash')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.recovery_auth_hash ?? null;
}

/** Replaces the wrap that the password opens, if the vault is at `version`, which is one more then. False if it is not. */
export async function replacePasswordWrap(
  db: Db,
  userId: string,
  { version, passwordWrap }: { version: number; passwordWrap: Buffer },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('vaults')
    .set({ version: version + 1, password_wrap: passwordWrap })
    .where('user_id', '=', userId)
    .where('version', '=', version)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/**
 * Stores `vault` if the stored version is the one before it (none before version 1). False if it is not.
 * @param recoveryAuthHash null for none; undefined leaves it as it is
 */
export async function replaceVault(
  db: Db,
  userId: string,
  vault: VaultRow,
  recoveryAuthHash: string | null | undefined,
): Promise<boolean> {
  const values = {
    version: vault.version,
    sealed_vault: vault.sealedVault,
    password_wrap: vault.passwordWrap,
    recovery_wrap: vault.recoveryWrap,
    ...(recoveryAuthHash === undefined ? {} : { recovery_auth_hash: recoveryAuthHash }),
  };
  if (vault.version === 1) {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('vaults')
      .values({ user_id: userId, ...values })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }
  const { numUpdatedRows } = await db
    .updateTable('vaults')
    .set(values)
    .where('user_id', '=', userId)
    .where('version', '=', vault.version - 1)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
