import type { Discoverability } from '../../contract/index.ts';
import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';

export interface UserRow {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  /** Milliseconds since the epoch; null for one that is not verified. */
  readonly emailVerifiedAt: number | null;
  readonly fullName: string;
  readonly createdAt: number;
}

export interface Credentials {
  readonly passwordHash: string;
  readonly salt: Buffer;
  readonly opsLimit: number;
  readonly memLimit: number;
}

/** Credentials as they are set, with the public key by which the password's proofs are verified; null for none. */
export interface NewCredentials extends Credentials {
  readonly proofKey: Buffer | null;
}

interface StoredCredentials {
  password_hash: string;
  password_salt: Buffer;
  password_ops_limit: number;
  password_mem_limit: number;
}

const credentialColumns = [
  'password_hash',
  'password_salt',
  'password_ops_limit',
  'password_mem_limit',
] as const;

const credentialsOf = (row: StoredCredentials): Credentials => ({
  passwordHash: row.password_hash,
  salt: row.password_salt,
  opsLimit: row.password_ops_limit,
  memLimit: row.password_mem_limit,
});

export interface NewUser extends UserRow, NewCredentials {
  readonly usernameKey: string;
  readonly usernameSkeleton: string;
  readonly emailKey: string;
  readonly consentedAt: number;
}

export const profileColumns = [
  'id',
  'username',
  'email',
  'email_verified_at',
  'full_name',
  'created_at',
] as const;

export interface StoredProfile {
  id: string;
  username: string;
  email: string;
  email_verified_at: number | null;
  full_name: string;
  created_at: number;
}

export const fromRow = (row: StoredProfile): UserRow => ({
  id: row.id,
  username: row.username,
  email: row.email,
  emailVerifiedAt: row.email_verified_at,
  fullName: row.full_name,
  createdAt: row.created_at,
});

/** False, and nothing stored, if the username, one that looks like it, or the email belongs to somebody. */
export async function insertUser(db: Db, user: NewUser): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('users')
    .values({
      id: user.id,
      username: user.username,
      username_key: user.usernameKey,
      username_skeleton: user.usernameSkeleton,
      email: user.email,
      email_key: user.emailKey,
      full_name: user.fullName,
      password_hash: user.passwordHash,
      password_salt: user.salt,
      password_ops_limit: user.opsLimit,
      password_mem_limit: user.memLimit,
      proof_key: user.proofKey,
      consented_at: user.consentedAt,
      created_at: user.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Returns a row if there is such a person. */
export const userQuery = prepared<{ id: string }>()((db, parameter) =>
  db.selectFrom('users').select('id').where('id', '=', parameter('id')),
);

export async function findUser(db: Db, id: string): Promise<UserRow | null> {
  const row = await db.selectFrom('users').select(profileColumns).where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}

/** Makes other transactions that decide on any of these people wait until this one has ended. */
export async function lockUsers(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .selectFrom('users')
    .select('id')
    .where('id', 'in', ids)
    // In one order, so that two of them can't wait for each other.
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Deletes a person with every row that refers to them. */
export async function deleteUser(db: Db, id: string): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute();
}

/** Returns whether somebody has this username, or one that looks like it. */
export async function usernameExists(
  db: Db,
  { usernameKey, usernameSkeleton }: Pick<NewUser, 'usernameKey' | 'usernameSkeleton'>,
): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where((where) =>
      where.or([where('username_key', '=', usernameKey), where('username_skeleton', '=', usernameSkeleton)]),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** The person whose username or email this is. No text is both: usernames can't hold an @. */
export async function findByName(
  db: Db,
  key: string,
): Promise<{ user: UserRow; credentials: Credentials } | null> {
  const row = await db
    .selectFrom('users')
    .select([...profileColumns, ...credentialColumns])
    .where((where) => where.or([where('username_key', '=', key), where('email_key', '=', key)]))
    .executeTakeFirst();
  if (row === undefined) return null;
  return { user: fromRow(row), credentials: credentialsOf(row) };
}

export async function findByEmail(db: Db, emailKey: string): Promise<UserRow | null> {
  const row = await db
    .selectFrom('users')
    .select(profileColumns)
    .where('email_key', '=', emailKey)
    .executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}

/** Gives an account an email that its owner has verified. */
export async function setVerifiedEmail(
  db: Db,
  id: string,
  {
    email,
    emailKey,
    emailVerifiedAt,
  }: { readonly email: string; readonly emailKey: string; readonly emailVerifiedAt: number },
): Promise<void> {
  await db
    .updateTable('users')
    .set({ email, email_key: emailKey, email_verified_at: emailVerifiedAt })
    .where('id', '=', id)
    .execute();
}

/**
 * Returns the email of a person as others may see it.
 * @param verifies emails are verified: others see none before
 */
export const shownEmail = (
  { email, emailVerifiedAt }: Pick<UserRow, 'email' | 'emailVerifiedAt'>,
  verifies: boolean,
) => (verifies && emailVerifiedAt === null ? '' : email);

export interface Account {
  readonly user: UserRow;
  readonly credentials: Credentials;
  readonly consentedAt: number;
  readonly discoverability: Discoverability;
  /** Asked before somebody puts them into a group. */
  readonly askedFirst: boolean;
}

/** Everything that is stored of a person in this table. */
export async function findAccount(db: Db, id: string): Promise<Account | null> {
  const row = await db
    .selectFrom('users')
    .select([
      ...profileColumns,
      ...credentialColumns,
      'consented_at',
      'found_by',
      'shows_email',
      'asked_first',
    ])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    user: fromRow(row),
    credentials: credentialsOf(row),
    consentedAt: row.consented_at,
    discoverability: { found_by: row.found_by, shows_email: row.shows_email === 1 },
    askedFirst: row.asked_first === 1,
  };
}

export async function setCredentials(db: Db, id: string, credentials: NewCredentials): Promise<void> {
  await db
    .updateTable('users')
    .set({
      password_hash: credentials.passwordHash,
      password_salt: credentials.salt,
      password_ops_limit: credentials.opsLimit,
      password_mem_limit: credentials.memLimit,
      proof_key: credentials.proofKey,
    })
    .where('id', '=', id)
    .execute();
}

/** The key that certifies a person's new devices; null for one who has never moved on to another. */
export async function findAccountKey(db: Db, id: string): Promise<Buffer | null> {
  const row = await db.selectFrom('users').select('account_key').where('id', '=', id).executeTakeFirst();
  return row?.account_key ?? null;
}

export async function setAccountKey(db: Db, id: string, accountKey: Buffer): Promise<void> {
  await db.updateTable('users').set({ account_key: accountKey }).where('id', '=', id).execute();
}

export interface Names {
  readonly username: string;
  readonly usernameKey: string;
  /** Undefined where the username looks like the former one. */
  readonly usernameSkeleton: string | undefined;
  readonly email: string;
  readonly emailKey: string;
  /** Null where it is another email than the former. */
  readonly emailVerifiedAt: number | null;
  readonly fullName: string;
  /** The username as a device of the person has signed it; null for none. Left out, it stays. */
  readonly signedName?: Buffer | null;
}

/** Returns which of these names are somebody else's; a username also where it only looks like another's. */
export async function takenNames(
  db: Db,
  id: string,
  { usernameKey, usernameSkeleton, emailKey }: Pick<Names, 'usernameKey' | 'usernameSkeleton' | 'emailKey'>,
): Promise<{ username: boolean; email: boolean }> {
  const rows = await db
    .selectFrom('users')
    .select(['username_key', 'username_skeleton', 'email_key'])
    .where('id', '!=', id)
    .where((where) =>
      where.or([
        where('username_key', '=', usernameKey),
        where('email_key', '=', emailKey),
        ...(usernameSkeleton === undefined ? [] : [where('username_skeleton', '=', usernameSkeleton)]),
      ]),
    )
    .execute();
  return {
    username: rows.some(
      (row) =>
        row.username_key === usernameKey ||
        (usernameSkeleton !== undefined && row.username_skeleton === usernameSkeleton),
    ),
    email: rows.some((row) => row.email_key === emailKey),
  };
}

export async function renameUser(db: Db, id: string, names: Names): Promise<void> {
  await db
    .updateTable('users')
    .set({
      username: names.username,
      username_key: names.usernameKey,
      ...(names.usernameSkeleton === undefined ? {} : { username_skeleton: names.usernameSkeleton }),
      email: names.email,
      email_key: names.emailKey,
      email_verified_at: names.emailVerifiedAt,
      full_name: names.fullName,
      ...(names.signedName === undefined ? {} : { signed_name: names.signedName }),
    })
    .where('id', '=', id)
    .execute();
}

/** Keeps a signed username, as long as it is the person's. False if it isn't any more. */
export async function setSignedName(
  db: Db,
  id: string,
  { signedName, username }: { readonly signedName: Buffer; readonly username: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ signed_name: signedName })
    .where('id', '=', id)
    .where('username', '=', username)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The signed usernames of these people, of whoever has one. */
export async function signedNamesOf(
  db: Db,
  ids: readonly string[],
): Promise<{ userId: string; signedName: Buffer }[]> {
  const rows = await db.selectFrom('users').select(['id', 'signed_name']).where('id', 'in', ids).execute();
  return rows.flatMap(({ id, signed_name: signedName }) =>
    signedName === null ? [] : [{ userId: id, signedName }],
  );
}
