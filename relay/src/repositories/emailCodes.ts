import type { Db } from '../db/tables.ts';

/** The code that was mailed last to the email of an account, or to the one that is to replace it. */
export interface EmailCodeRow {
  readonly email: string;
  readonly emailKey: string;
  readonly codeHash: Buffer;
  readonly wrongTries: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export async function findEmailCode(db: Db, userId: string): Promise<EmailCodeRow | null> {
  const row = await db.selectFrom('email_codes').selectAll().where('user_id', '=', userId).executeTakeFirst();
  if (row === undefined) return null;
  return {
    email: row.email,
    emailKey: row.email_key,
    codeHash: row.code_hash,
    wrongTries: row.wrong_tries,
    expiresAt: row.expires_at,
  };
}

/** Puts a code that nobody has tried in the place of the account's former one. */
export async function putEmailCode(
  db: Db,
  userId: string,
  { email, emailKey, codeHash, expiresAt }: Omit<EmailCodeRow, 'wrongTries'>,
): Promise<void> {
  const code = { email, email_key: emailKey, code_hash: codeHash, wrong_tries: 0, expires_at: expiresAt };
  await db
    .insertInto('email_codes')
    .values({ user_id: userId, ...code })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(code))
    .execute();
}

export async function countWrongTry(db: Db, userId: string): Promise<void> {
  await db
    .updateTable('email_codes')
    .set((row) => ({ wrong_tries: row('wrong_tries', '+', 1) }))
    .where('user_id', '=', userId)
    .execute();
}

export async function deleteEmailCode(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('email_codes').where('user_id', '=', userId).execute();
}

/** Deletes codes that expired before a time, with the addresses that waited for them. */
export async function deleteOldEmailCodes(db: Db, before: number): Promise<void> {
  await db.deleteFrom('email_codes').where('expires_at', '<=', before).execute();
}
