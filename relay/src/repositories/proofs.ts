import type { Db } from '../db/tables.ts';

/** Stores a nonce of a session, and deletes those of it that have expired, so that they don't pile up. */
export async function insertNonce(
  db: Db,
  { nonce, sessionId, expiresAt, now }: { nonce: Buffer; sessionId: string; expiresAt: number; now: number },
): Promise<void> {
  await db
    .deleteFrom('proof_nonces')
    .where('session_id', '=', sessionId)
    .where('expires_at', '<=', now)
    .execute();
  await db
    .insertInto('proof_nonces')
    .values({ nonce, session_id: sessionId, expires_at: expiresAt })
    .execute();
}

/** Uses up a nonce. False if it is not this session's, or was used, or has expired. */
export async function takeNonce(
  db: Db,
  { nonce, sessionId, now }: { nonce: Buffer; sessionId: string; now: number },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('proof_nonces')
    .where('nonce', '=', nonce)
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

export async function deleteExpiredNonces(db: Db, now: number): Promise<void> {
  await db.deleteFrom('proof_nonces').where('expires_at', '<=', now).execute();
}

/** The keys by which a proof of an account is verified. Null where the account has no such key. */
export interface ProofKeys {
  readonly password: Buffer | null;
  readonly recovery: Buffer | null;
  /** The vault's version; 0 before the first. */
  readonly version: number;
}

export async function findProofKeys(db: Db, userId: string): Promise<ProofKeys> {
  const row = await db
    .selectFrom('users')
    .leftJoin('vaults', 'vaults.user_id', 'users.id')
    .select(['users.proof_key', 'vaults.recovery_proof_key', 'vaults.version'])
    .where('users.id', '=', userId)
    .executeTakeFirst();
  return {
    password: row?.proof_key ?? null,
    recovery: row?.recovery_proof_key ?? null,
    version: row?.version ?? 0,
  };
}

/** Stores the proof key of the password of an account that has none. */
export async function addPasswordProofKey(db: Db, userId: string, proofKey: Buffer): Promise<void> {
  await db
    .updateTable('users')
    .set({ proof_key: proofKey })
    .where('id', '=', userId)
    .where('proof_key', 'is', null)
    .execute();
}

/** Stores the proof key of the recovery key of an account that has none. */
export async function addRecoveryProofKey(db: Db, userId: string, proofKey: Buffer): Promise<void> {
  await db
    .updateTable('vaults')
    .set({ recovery_proof_key: proofKey })
    .where('user_id', '=', userId)
    .where('recovery_proof_key', 'is', null)
    .execute();
}
