import type { PasswordParams } from '../../contract/index.ts';
import type { LoginThrottle } from '../auth/loginThrottle.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { Session } from '../auth/session.ts';
import { provenLifetime, tellEnded } from '../auth/sessions.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import { endSessionsOfOldPassword, makeFullSession, sessionPurpose } from '../repositories/sessions.ts';
import { findAccount, lockUsers, type NewCredentials, setCredentials } from '../repositories/users.ts';
import { rotateVault, type VaultRotation } from './vaultRotation.ts';

/** A password, and the vault under it. */
export interface NewPassword {
  /** base64url of the new authKey, and how it is derived. */
  readonly authKey: string;
  readonly passwordParams: PasswordParams;
  /** The public key by which its proofs are verified. */
  readonly proofKey: Buffer;
  readonly vault: VaultRotation;
}

export interface PasswordChange extends NewPassword {
  /** base64url of the authKey so far; a recovery session needs none. */
  readonly currentAuthKey: string | undefined;
}

export interface PasswordDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
  readonly passwords: Passwords;
  readonly loginThrottle: LoginThrottle;
}

/** Returns the columns that are stored of a password. */
export async function credentialsOf(
  { passwords }: Pick<PasswordDependencies, 'passwords'>,
  { authKey, passwordParams: { salt, opsLimit, memLimit }, proofKey }: NewPassword,
): Promise<NewCredentials> {
  const passwordHash = await passwords.hash(authKey);
  return { passwordHash, salt: Buffer.from(salt, 'base64url'), opsLimit, memLimit, proofKey };
}

/** See Accounts.changePassword. */
export async function changePassword(
  dependencies: PasswordDependencies,
  session: Session,
  change: PasswordChange,
  address: string,
): Promise<number> {
  const { db, hub, clock } = dependencies;
  if ((await sessionPurpose(db, session.id)) !== 'recovery') {
    await requireCurrentPassword(dependencies, session.userId, change.currentAuthKey, address);
  }
  const { userId } = session;
  const credentials = await credentialsOf(dependencies, change);
  const endedIds = await db.transaction().execute(async (tx) => {
    await lockUsers(tx, [userId]);
    // Together with the vault: a password that opens none would lock the person out.
    await rotateVault(tx, userId, change.vault, clock());
    await setCredentials(tx, userId, credentials);
    await makeFullSession(tx, session.id, clock() + provenLifetime);
    return endSessionsOfOldPassword(tx, { userId, keptId: session.id, now: clock() });
  });
  tellEnded(hub, endedIds, 'password-changed');
  return change.vault.version + 1;
}

/** Counted like log-ins: whoever holds a token must not be able to guess on. */
async function requireCurrentPassword(
  { db, passwords, loginThrottle }: PasswordDependencies,
  userId: string,
  authKey: string | undefined,
  address: string,
): Promise<void> {
  const account = await findAccount(db, userId);
  const attempt = { subject: userId, kind: 'password-change', address, loginProof: undefined } as const;
  const matches =
    authKey !== undefined &&
    (await loginThrottle.attempt(attempt, () =>
      passwords.verify(account?.credentials.passwordHash ?? null, authKey),
    ));
  if (!matches) throw new ApiError('wrong-password', 'The current password is wrong.');
}
