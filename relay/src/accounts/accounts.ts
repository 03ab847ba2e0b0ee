import { randomUUID } from 'node:crypto';
import type { PasswordParams } from '../../contract/index.ts';
import type { LoginAttempt, LoginThrottle } from '../auth/loginThrottle.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import * as users from '../repositories/users.ts';
import { findVault, replaceVault, type VaultRow } from '../repositories/vaults.ts';
import { nameKey } from './names.ts';

export interface SignUp {
  readonly username: string;
  readonly email: string;
  /** base64url of the authKey. */
  readonly authKey: string;
  readonly passwordParams: PasswordParams;
  readonly fullName: string | undefined;
  /** When the person agreed to the privacy policy, by their own clock; milliseconds since the epoch. */
  readonly consentedAt: number;
}

export interface SignedIn {
  readonly token: string;
  /** See LoginThrottle. */
  readonly loginProof: string;
  readonly user: users.UserRow;
}

/** Where a log-in comes from. */
export type LoginSource = Pick<LoginAttempt, 'address' | 'loginProof'>;

export interface Accounts {
  /** @throws ApiError username-taken, email-taken */
  register(signUp: SignUp): Promise<SignedIn>;
  /**
   * @param name a username or an email
   * @throws ApiError wrong-credentials, as fast and in the same words whether or not the name exists; rate-limited
   */
  login(name: string, authKey: string, from: LoginSource): Promise<SignedIn>;
  /** Password derivation parameters of a name; made up, but always the same, if nobody has it. */
  passwordParams(name: string): Promise<PasswordParams>;
  /** @throws ApiError not-found */
  profile(userId: string): Promise<users.UserRow>;
  /** At most `limit` people, never the one who asks. */
  search(userId: string, text: string, limit: number): Promise<users.UserRow[]>;
  /** @throws ApiError not-found before the first vault is stored */
  vault(userId: string): Promise<VaultRow>;
  /**
   * @param vault its version is the one that it replaces, 0 for the first
   * @returns the new version
   * @throws ApiError stale-version with the stored version
   */
  replaceVault(userId: string, vault: VaultRow): Promise<number>;
}

export interface AccountDependencies {
  readonly db: Db;
  readonly clock: () => number;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly loginThrottle: LoginThrottle;
}

export function createAccounts({
  db,
  clock,
  passwords,
  sessions,
  loginThrottle,
}: AccountDependencies): Accounts {
  const signIn = async (user: users.UserRow): Promise<SignedIn> => ({
    token: await sessions.open(user.id),
    loginProof: loginThrottle.proofFor(user.id),
    user,
  });

  return {
    async register(signUp) {
      const user: users.UserRow = {
        id: randomUUID(),
        username: signUp.username,
        email: signUp.email,
        fullName: signUp.fullName || signUp.username,
        createdAt: clock(),
      };
      const usernameKey = nameKey(signUp.username);
      const stored = await users.insertUser(db, {
        ...user,
        usernameKey,
        emailKey: nameKey(signUp.email),
        passwordHash: await passwords.hash(signUp.authKey),
        salt: Buffer.from(signUp.passwordParams.salt, 'base64url'),
        opsLimit: signUp.passwordParams.opsLimit,
        memLimit: signUp.passwordParams.memLimit,
        consentedAt: signUp.consentedAt,
      });
      if (!stored) {
        if (await users.usernameExists(db, usernameKey)) {
          throw new ApiError('username-taken', 'This username is already taken.');
        }
        throw new ApiError('email-taken', 'This email is already registered.');
      }
      return signIn(user);
    },

    async login(name, authKey, from) {
      const key = nameKey(name);
      const found = await users.findByName(db, key);
      const subject = found?.user.id ?? passwords.decoyUserId(key);
      const matches = await loginThrottle.attempt({ ...from, subject }, () =>
        passwords.verify(found?.credentials.passwordHash ?? null, authKey),
      );
      if (found === null || !matches) {
        throw new ApiError('wrong-credentials', 'Wrong username or password.');
      }
      return signIn(found.user);
    },

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
      if (user === null) throw new ApiError('not-found', 'There is no such person.');
      return user;
    },

    search: (userId, text, limit) => users.searchUsers(db, { key: nameKey(text), exceptId: userId, limit }),

    async vault(userId) {
      const vault = await findVault(db, userId);
      if (vault === null) throw new ApiError('not-found', 'No vault has been stored yet.');
      return vault;
    },

    async replaceVault(userId, vault) {
      const version = vault.version + 1;
      if (!(await replaceVault(db, userId, { ...vault, version }))) {
        const current = await findVault(db, userId);
        throw new ApiError('stale-version', 'The vault has been changed from another device.', {
          version: current?.version ?? 0,
        });
      }
      return version;
    },
  };
}
