import { randomUUID } from 'node:crypto';
import type { PasswordParams, SignUpMode } from '../../contract/index.ts';
import type { LoginAttempt } from '../auth/loginThrottle.ts';
import { requireDevice, type Session } from '../auth/session.ts';
import type { OpenOptions, Sessions } from '../auth/sessions.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { addPasswordProofKey, addRecoveryProofKey } from '../repositories/proofs.ts';
import { signUpMode } from '../repositories/signUp.ts';
import * as users from '../repositories/users.ts';
import {
  type FormerVaultRow,
  findFormerVault,
  findRecoveryHash,
  findVault,
  insertVault,
  type RecoveryCredentials,
  replaceVault,
  type VaultRow,
} from '../repositories/vaults.ts';
import { acquaintancesOf, tellAcquaintances } from './acquaintances.ts';
import { deleteAccount } from './deletion.ts';
import { type MovingOn, moveOn } from './movingOn.ts';
import { isOfOneScript, nameKey, skeletonOf } from './names.ts';
import { changePassword, type PasswordChange, type PasswordDependencies } from './passwordChange.ts';
import { requireNewerName } from './signedNames.ts';
import { takeIn } from './signUpModes.ts';
import { staleVersion } from './vaultRotation.ts';

export interface SignUp {
  readonly username: string;
  readonly email: string;
  /** base64url of the authKey. */
  readonly authKey: string;
  readonly passwordParams: PasswordParams;
  /** The public key by which the password's proofs are verified; null for none yet. */
  readonly proofKey: Buffer | null;
  readonly fullName: string | undefined;
  /** The code of an invitation. */
  readonly invitation: string | undefined;
  /** When the person agreed to the privacy policy, by their own clock; milliseconds since the epoch. */
  readonly consentedAt: number;
}

export interface SignedIn {
  readonly token: string;
  /** See LoginThrottle. */
  readonly loginProof: string;
  readonly user: users.UserRow;
}

/** The facts that come with a log-in, beside its proof. */
export interface LoginSource extends Pick<LoginAttempt, 'address' | 'loginProof'> {
  /** The public key by which proofs are verified, for an account that has none yet; null for none. */
  readonly proofKey: Buffer | null;
}

/** The recovery key, as the relay knows it. */
export interface RecoveryKey {
  /** base64url of the key that it signs in by. */
  readonly authKey: string;
  /** The public key by which its proofs are verified; null for none yet. */
  readonly proofKey: Buffer | null;
}

/** A change of the vault. What is undefined stays as it is. */
export interface VaultReplacement {
  /** The version that it replaces; 0 for the first vault, which needs a password wrap. */
  readonly version: number;
  readonly sealedVault: Buffer;
  readonly passwordWrap: Buffer | undefined;
  /** Null takes the recovery key away. */
  readonly recoveryWrap: Buffer | null | undefined;
  readonly recoveryKey: RecoveryKey | undefined;
}

export interface Accounts {
  signUpMode(): Promise<SignUpMode>;
  /**
   * @throws ApiError sign-up-closed, invitation-refused; username-taken (one that looks like it, too), email-taken;
   *   invalid-username for letters of several scripts
   */
  register(signUp: SignUp): Promise<SignedIn>;
  /**
   * @param name a username or an email
   * @throws ApiError wrong-credentials, as fast and in the same words whether or not the name exists; rate-limited
   */
  login(name: string, authKey: string, from: LoginSource): Promise<SignedIn>;
  /**
   * Proves the recovery key, for a session that can open the vault and set a new password.
   * @param name a username or an email
   * @throws ApiError wrong-credentials, as fast and in the same words whether or not the name exists or has one;
   *   rate-limited
   */
  recover(name: string, recoveryAuthKey: string, from: LoginSource): Promise<SignedIn>;
  /**
   * Sets a new password and ends every other session; a recovery session becomes a full one.
   * @returns the vault's new version
   * @throws ApiError wrong-password, stale-version, rate-limited
   */
  changePassword(session: Session, change: PasswordChange, address: string): Promise<number>;
  /**
   * Takes a new account key with a new password: revokes all devices, ends every other session and the recovery key, and
   * frees this session for the browser's new device.
   * @returns the vault's new version
   * @throws ApiError stale-version; device-conflict unless there is a statement for each device
   */
  moveOn(session: Session, change: MovingOn): Promise<number>;
  /** Password derivation parameters of a name; made up, but always the same, if nobody has it. */
  passwordParams(name: string): Promise<PasswordParams>;
  /** @throws ApiError not-found */
  profile(userId: string): Promise<users.UserRow>;
  /**
   * @param names.email null leaves it as it is, and asks nothing about others'
   * @throws ApiError username-taken, email-taken, invalid-username as of `register`; for a signed name, forbidden unless it is the device's word for this one, and
   * stale-version
   */
  updateProfile(
    session: Session,
    names: { username: string; email: string | null; signedName: Buffer | null },
  ): Promise<users.UserRow>;
  /** See deleteAccount. */
  delete(userId: string): Promise<void>;
  /** The account itself, as the relay has it. @throws ApiError not-found */
  data(userId: string): Promise<users.Account>;
  /** @throws ApiError not-found before the first vault is stored */
  vault(userId: string): Promise<VaultRow>;
  /** The vault before the present one. @throws ApiError not-found unless one was replaced in the last seven days */
  formerVault(userId: string): Promise<FormerVaultRow>;
  /** Returns which of the names aren't the person's yet, in whatever case. */
  newNames(userId: string, names: { username: string; email: string }): Promise<('username' | 'email')[]>;
  /**
   * @returns the new version, and if there was a recovery key, or a part of one, in the vault that was replaced
   * @throws ApiError stale-version with the stored version; invalid-request for a first vault without a wrap
   */
  replaceVault(
    userId: string,
    vault: VaultReplacement,
  ): Promise<{ readonly version: number; readonly hadRecoveryKey: boolean }>;
}

export interface AccountDependencies extends PasswordDependencies {
  readonly sessions: Sessions;
  readonly blobs: Pick<Blobs, 'deleteSoon'>;
}

export function createAccounts(dependencies: AccountDependencies): Accounts {
  const { db, hub, clock, passwords, sessions, loginThrottle } = dependencies;
  const credentialsOf = async ({ authKey, proofKey }: RecoveryKey): Promise<RecoveryCredentials> => ({
    authHash: await passwords.hash(authKey),
    proofKey,
  });
  const signIn = async (user: users.UserRow, options?: OpenOptions): Promise<SignedIn> => ({
    token: await sessions.open(user.id, options),
    loginProof: loginThrottle.proofFor(user.id),
    user,
  });

  return {
    signUpMode: () => signUpMode(db),

    async register(signUp) {
      requireOneScript(signUp.username);
      const user: users.UserRow = {
        id: randomUUID(),
        username: signUp.username,
        email: signUp.email,
        emailVerifiedAt: null,
        fullName: signUp.fullName || signUp.username,
        createdAt: clock(),
      };
      const keys = { usernameKey: nameKey(user.username), usernameSkeleton: skeletonOf(user.username) };
      const row = {
        ...user,
        ...keys,
        emailKey: nameKey(signUp.email),
        passwordHash: await passwords.hash(signUp.authKey),
        salt: Buffer.from(signUp.passwordParams.salt, 'base64url'),
        opsLimit: signUp.passwordParams.opsLimit,
        memLimit: signUp.passwordParams.memLimit,
        proofKey: signUp.proofKey,
        consentedAt: signUp.consentedAt,
      };
      await db.transaction().execute(async (tx) => {
        await takeIn(tx, signUp.invitation, user.createdAt);
        if (await users.insertUser(tx, row)) return;
        // An invitation is not used up by it.
        throw (await users.usernameExists(tx, keys)) ? usernameTaken() : emailTaken();
      });
      return signIn(user);
    },

    async login(name, authKey, from) {
      const key = nameKey(name);
      const found = await users.findByName(db, key);
      const subject = found?.user.id ?? passwords.decoyUserId(key);
      const { address, loginProof, proofKey } = from;
      const matches = await loginThrottle.attempt({ address, loginProof, subject, kind: 'login' }, () =>
        passwords.verify(found?.credentials.passwordHash ?? null, authKey),
      );
      if (found === null || !matches) {
        throw wrongPassword();
      }
      const check = async (tx: Db) => {
        const account = await users.findAccount(tx, found.user.id);
        if (account?.credentials.passwordHash !== found.credentials.passwordHash) throw wrongPassword();
        if (proofKey !== null) await addPasswordProofKey(tx, found.user.id, proofKey);
      };
      return signIn(found.user, { check });
    },

    async recover(name, recoveryAuthKey, from) {
      const key = nameKey(name);
      const found = await users.findByName(db, key);
      // Asked for in any case, so that the time taken says nothing.
      const hash = await findRecoveryHash(db, found?.user.id ?? '');
      const subject = found?.user.id ?? passwords.decoyUserId(key);
      const { address, loginProof, proofKey } = from;
      const matches = await loginThrottle.attempt({ address, loginProof, subject, kind: 'recovery' }, () =>
        passwords.verify(hash, recoveryAuthKey),
      );
      if (found === null || !matches) {
        throw wrongRecoveryKey();
      }
      const check = async (tx: Db) => {
        if ((await findRecoveryHash(tx, found.user.id)) !== hash) throw wrongRecoveryKey();
        if (proofKey !== null) await addRecoveryProofKey(tx, found.user.id, proofKey);
      };
      return signIn(found.user, { purpose: 'recovery', check });
    },

    changePassword: (session, change, address) => changePassword(dependencies, session, change, address),

    moveOn: (session, change) => moveOn(dependencies, session, change),

    async passwordParams(name) {
      const key = nameKey(name);
      // Made in any case, so that the time taken says nothing.
      const decoy = passwords.decoyParams(key);
      const found = await users.findByName(db, key);
      if (found === null) return decoy;
      const { salt, opsLimit, memLimit } = found.credentials;
      return { salt: salt.toString('base64url'), opsLimit, memLimit };
    },

    async profile(userId) {
      const user = await users.findUser(db, userId);
      if (user === null) throw noSuchPerson();
      return user;
    },

    async updateProfile(session, { signedName, username, ...names }) {
      const { userId } = session;
      const usernameKey = nameKey(username);
      const { user, acquaintances } = await db.transaction().execute(async (tx) => {
        const former = await users.findUser(tx, userId);
        if (former === null) throw noSuchPerson();
        const email = names.email ?? former.email;
        const emailKey = nameKey(email);
        const isNewName = nameKey(former.username) !== usernameKey;
        if (isNewName) requireOneScript(username);
        // Another case can be another look: an upper-case i is like an l.
        const skeleton = skeletonOf(username);
        const usernameSkeleton = skeleton === skeletonOf(former.username) ? undefined : skeleton;
        const taken = await users.takenNames(tx, userId, { usernameKey, usernameSkeleton, emailKey });
        if (taken.username) throw usernameTaken();
        if (taken.email) throw emailTaken();
        // Nobody has asked for another full name; the one that was taken from the username follows it.
        const fullName = former.fullName === former.username ? username : former.fullName;
        if (signedName !== null) {
          const device = requireDevice(session);
          await requireNewerName(tx, device, { username, former: former.username, signedName });
        }
        const emailVerifiedAt = nameKey(former.email) === emailKey ? former.emailVerifiedAt : null;
        const renamed = {
          username,
          usernameKey,
          usernameSkeleton,
          email,
          emailKey,
          emailVerifiedAt,
          fullName,
        };
        // One that was signed for another name says nothing of this one.
        const isKept = signedName === null && former.username === username;
        await users.renameUser(tx, userId, isKept ? renamed : { ...renamed, signedName });
        return {
          user: { ...former, username, email, emailVerifiedAt, fullName },
          acquaintances: await acquaintancesOf(tx, userId),
        };
      });
      hub.publishToUsers([userId], { type: 'contacts', lists: ['contacts'] });
      tellAcquaintances(hub, acquaintances);
      return user;
    },

    delete: (userId) => deleteAccount(dependencies, userId),

    async data(userId) {
      const account = await users.findAccount(db, userId);
      if (account === null) throw noSuchPerson();
      return account;
    },

    async vault(userId) {
      const vault = await findVault(db, userId);
      if (vault === null) throw new ApiError('not-found', 'No vault has been stored yet.');
      return vault;
    },

    async formerVault(userId) {
      const vault = await findFormerVault(db, userId);
      if (vault === null) throw new ApiError('not-found', 'No vault was replaced lately.');
      return vault;
    },

    async newNames(userId, names) {
      const user = await users.findUser(db, userId);
      return (['username', 'email'] as const).filter(
        (name) => user === null || nameKey(user[name]) !== nameKey(names[name]),
      );
    },

    async replaceVault(userId, { recoveryKey, ...vault }) {
      const version = vault.version + 1;
      const recovery = vault.recoveryWrap === null ? null : recoveryKey && (await credentialsOf(recoveryKey));
      const { hadRecoveryKey, isStored } = await db.transaction().execute(async (tx) => {
        await users.lockUsers(tx, [userId]);
        const change = { ...vault, version, recovery };
        if (vault.version === 0) {
          const isFirst = await insertVault(tx, userId, firstVault(change), recovery ?? null);
          return { hadRecoveryKey: false, isStored: isFirst };
        }
        const wrap = (await findVault(tx, userId))?.recoveryWrap ?? null;
        const had = wrap !== null || (await findRecoveryHash(tx, userId)) !== null;
        return { hadRecoveryKey: had, isStored: await replaceVault(tx, userId, change, clock()) };
      });
      if (!isStored) throw await staleVersion(db, userId);
      return { version, hadRecoveryKey };
    },
  };
}

/** @throws ApiError invalid-request without a password wrap: nothing would open the vault */
function firstVault({
  version,
  sealedVault,
  passwordWrap,
  recoveryWrap = null,
}: Omit<VaultReplacement, 'recoveryKey'>): VaultRow {
  if (passwordWrap === undefined) throw new ApiError('invalid-request', 'passwordWrap: missing');
  return { version, sealedVault, passwordWrap, recoveryWrap };
}

const wrongPassword = () => new ApiError('wrong-credentials', 'Wrong username or password.');
const wrongRecoveryKey = () => new ApiError('wrong-credentials', 'Wrong name or recovery key.');
const noSuchPerson = () => new ApiError('not-found', 'There is no such person.');
/** @throws ApiError invalid-username */
function requireOneScript(username: string): void {
  if (isOfOneScript(username)) return;
  throw new ApiError(
    'invalid-username',
    'The letters of a username are of one script, such as Latin or Cyrillic.',
  );
}

const usernameTaken = () => new ApiError('username-taken', 'This username is already taken.');
const emailTaken = () => new ApiError('email-taken', 'This email is already registered.');
