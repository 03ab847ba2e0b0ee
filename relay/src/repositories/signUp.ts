import type { SignUpMode } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';

const settingName = 'sign-up';

export async function signUpMode(db: Db): Promise<SignUpMode> {
  const row = await db
    .selectFrom('operator_settings')
    .select('value')
    .where('name', '=', settingName)
    .executeTakeFirst();
  // Closed for a word that a newer relay has left: it may have meant anything.
  if (row === undefined || row.value === 'open') return 'open';
  return row.value === 'invitation' ? 'invitation' : 'closed';
}

export async function setSignUpMode(db: Db, mode: SignUpMode): Promise<void> {
  await db
    .insertInto('operator_settings')
    .values({ name: settingName, value: mode })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: mode }))
    .execute();
}

/** Times in milliseconds since the epoch. */
export interface InvitationRow {
  readonly id: string;
  /** The accounts that it is good for, and those that came by it. */
  readonly uses: number;
  readonly used: number;
  readonly note: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
}

export async function insertInvitation(
  db: Db,
  { codeHash, ...invitation }: Omit<InvitationRow, 'used' | 'revokedAt'> & { readonly codeHash: string },
): Promise<void> {
  await db
    .insertInto('invitations')
    .values({
      id: invitation.id,
      code_hash: codeHash,
      uses: invitation.uses,
      note: invitation.note,
      created_at: invitation.createdAt,
      expires_at: invitation.expiresAt,
    })
    .execute();
}

/** Counts one account as come by an invitation. False if it is good for no more. */
export async function takeInvitation(db: Db, codeHash: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('invitations')
    .set((update) => ({ used: update('used', '+', 1) }))
    .where('code_hash', '=', codeHash)
    .whereRef('used', '<', 'uses')
    .where('expires_at', '>', now)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The invitations that there are, newest first. */
export async function invitationsOf(db: Db): Promise<InvitationRow[]> {
  const rows = await db
    .selectFrom('invitations')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    uses: row.uses,
    used: row.used,
    note: row.note,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }));
}

/** False if there is no such invitation. Revoking it again leaves the time as it is. */
export async function revokeInvitation(db: Db, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('invitations')
    .set((update) => ({ revoked_at: update.fn.coalesce('revoked_at', update.val(now)) }))
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Deletes invitations that expired before `until`. */
export async function deleteOldInvitations(db: Db, until: number): Promise<void> {
  await db.deleteFrom('invitations').where('expires_at', '<', until).execute();
}
