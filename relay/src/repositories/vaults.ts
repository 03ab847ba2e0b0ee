import type { Db } from '../db/tables.ts';

export interface VaultRow {
  readonly version: number;
  readonly sealedVault: Buffer;
  readonly passwordWrap: Buffer;
  readonly recoveryWrap: Buffer | null;
}

/** The vault before the present one. */
export interface FormerVaultRow extends VaultRow {
  readonly replacedAt: number;
}

/** Proves the recovery key. */
export interface RecoveryCredentials {
  /** Argon2id (PHC string) of the key that the recovery key signs in by. */
  readonly authHash: string;
  /** The public key by which the recovery key's proofs are verified; null for none. */
  readonly proofKey: Buffer | null;
}

/** A change of the vault. What is undefined stays as it is. */
export interface VaultChange {
  /** The version from then on. */
  readonly version: number;
  readonly sealedVault: Buffer;
  readonly passwordWrap: Buffer | undefined;
  readonly recoveryWrap: Buffer | null | undefined;
  /** Null for none. */
  readonly recovery: RecoveryCredentials | null | undefined;
}

const vaultColumns = ['version', 'sealed_vault', 'password_wrap', 'recovery_wrap'] as const;

interface StoredVault {
  version: number;
  sealed_vault: Buffer;
  password_wrap: Buffer;
  recovery_wrap: Buffer | null;
}

const fromRow = (row: StoredVault): VaultRow => ({
  version: row.version,
  sealedVault: row.sealed_vault,
  passwordWrap: row.password_wrap,
  recoveryWrap: row.recovery_wrap,
});

export async function findVault(db: Db, userId: string): Promise<VaultRow | null> {
  const row = await db
    .selectFrom('vaults')
    .select(vaultColumns)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}

export async function findFormerVault(db: Db, userId: string): Promise<FormerVaultRow | null> {
  const row = await db
    .selectFrom('former_vaults')
    .select([...vaultColumns, 'replaced_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row === undefined ? null : { ...fromRow(row), replacedAt: row.replaced_at };
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

/** Stores the first vault. False if there is one. */
export async function insertVault(
  db: Db,
  userId: string,
  vault: VaultRow,
  recovery: RecoveryCredentials | null,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('vaults')
    .values({
      user_id: userId,
      version: vault.version,
      sealed_vault: vault.sealedVault,
      password_wrap: vault.passwordWrap,
      recovery_wrap: vault.recoveryWrap,
      recovery_auth_hash: recovery?.authHash ?? null,
      recovery_proof_key: recovery?.proofKey ?? null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Changes the vault if the stored version is the one before, and keeps that one as the former. False if it is not. */
export async function replaceVault(
  db: Db,
  userId: string,
  { version, sealedVault, passwordWrap, recoveryWrap, recovery }: VaultChange,
  now: number,
): Promise<boolean> {
  await keepFormerVault(db, userId, version - 1, now);
  const { numUpdatedRows } = await db
    .updateTable('vaults')
    .set({
      version,
      sealed_vault: sealedVault,
      ...(passwordWrap === undefined ? {} : { password_wrap: passwordWrap }),
      ...(recoveryWrap === undefined ? {} : { recovery_wrap: recoveryWrap }),
      ...(recovery === undefined
        ? {}
        : {
            recovery_auth_hash: recovery?.authHash ?? null,
            recovery_proof_key: recovery?.proofKey ?? null,
          }),
    })
    .where('user_id', '=', userId)
    .where('version', '=', version - 1)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Keeps the vault as the former one, in the place of the one kept before, if it is at `version`. */
async function keepFormerVault(db: Db, userId: string, version: number, now: number): Promise<void> {
  await db
    .insertInto('former_vaults')
    .columns(['user_id', 'version', 'sealed_vault', 'password_wrap', 'recovery_wrap', 'replaced_at'])
    .expression((expression) =>
      expression
        .selectFrom('vaults')
        .select(['user_id', 'version', 'sealed_vault', 'password_wrap', 'recovery_wrap'])
        .select((select) => select.cast<number>(select.val(now), 'bigint').as('replaced_at'))
        .where('user_id', '=', userId)
        .where('version', '=', version),
    )
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((update) => ({
        version: update.ref('excluded.version'),
        sealed_vault: update.ref('excluded.sealed_vault'),
        password_wrap: update.ref('excluded.password_wrap'),
        recovery_wrap: update.ref('excluded.recovery_wrap'),
        replaced_at: update.ref('excluded.replaced_at'),
      })),
    )
    .execute();
}

export async function deleteFormerVaults(db: Db, replacedUntil: number): Promise<void> {
  await db.deleteFrom('former_vaults').where('replaced_at', '<=', replacedUntil).execute();
}
