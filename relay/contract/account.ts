import * as z from 'zod/mini';
import { InvitationCode } from './about.ts';
import { limits } from './limits.ts';
import { base64Url, Id, intFrom, lineOfText, Timestamp } from './primitives.ts';
import { ProofKey } from './proofs.ts';
import { defineRoute } from './route.ts';
import { OpenSession } from './sessions.ts';

/** Trimmed; letters, digits and . _ - only, so that names can't imitate each other by invisible characters. */
export const Username = z.string().check(
  z.trim(),
  z.minLength(limits.usernameMinLength),
  z.maxLength(limits.usernameMaxLength),
  // Some letters are invisible, such as the Hangul fillers.
  z.regex(
    /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}._-])+$/u,
    'Usernames may hold letters, digits and . _ - only',
  ),
);

export const Email = z.email().check(z.maxLength(limits.emailMaxLength));

/** base64url of the 32-byte authKey that the client derives from the password. Never the password. */
export const AuthKey = base64Url(32, 32);

/** The Argon2id parameters by which a client derives its keys from the password. `memLimit` in bytes. */
export const PasswordParams = z
  .object({ salt: base64Url(16, 16), opsLimit: intFrom(1).check(z.maximum(64)), memLimit: intFrom(8192) })
  .register(z.globalRegistry, { id: 'PasswordParams' });
export type PasswordParams = z.infer<typeof PasswordParams>;

/** A username as a device of the person has signed it. Crypto-core's SPEC.md has the bytes. */
export const SignedName = base64Url(limits.signedNameMax);

export const UserSummary = z
  .object({ id: Id, username: z.string(), email: z.string() })
  .register(z.globalRegistry, { id: 'UserSummary' });
export type UserSummary = z.infer<typeof UserSummary>;

export const Profile = z
  .extend(UserSummary, { full_name: z.string(), created_at: Timestamp })
  .register(z.globalRegistry, { id: 'Profile' });
export type Profile = z.infer<typeof Profile>;

/**
 * A proof that a browser gets at each log-in, and may send with the next one: guesses from elsewhere can't
 * keep a browser that has one from logging in. Opaque, and worth nothing without the password.
 */
const LoginProof = base64Url(48, 48);

export const SessionAnswer = z
  .object({ access_token: z.string(), user: Profile, loginProof: z.optional(LoginProof) })
  .register(z.globalRegistry, { id: 'Session' });

export const register = defineRoute({
  method: 'POST',
  paths: ['/register', '/signup', '/auth/register', '/auth/signup'],
  access: 'public',
  body: z.object({
    username: Username,
    email: Email,
    password: AuthKey,
    passwordParams: PasswordParams,
    /** The password's proof key. Left out, the next log-in may tell it. */
    passwordProofKey: z.optional(ProofKey),
    full_name: z.optional(lineOfText(limits.fullNameMaxLength)),
    /** The code of an invitation, where the operator asks for one. */
    invitation: z.optional(InvitationCode),
    consent: z.object({ privacyConsent: z.literal(true), consentTimestamp: Timestamp }),
  }),
  status: 201,
  response: SessionAnswer,
  errors: ['sign-up-closed', 'invitation-refused', 'invalid-username', 'username-taken', 'email-taken'],
});

export const login = defineRoute({
  method: 'POST',
  paths: ['/login/email', '/login', '/auth/login'],
  access: 'public',
  body: z.object({
    email: lineOfText(limits.emailMaxLength).check(z.minLength(1)),
    password: AuthKey,
    /** The password's proof key, which is stored if the account has none yet. */
    passwordProofKey: z.optional(ProofKey),
    loginProof: z.optional(LoginProof),
  }),
  status: 200,
  response: SessionAnswer,
  errors: ['wrong-credentials', 'account-suspended'],
});

export const logout = defineRoute({
  method: 'POST',
  paths: ['/logout'],
  access: 'session',
  recovery: true,
  status: 204,
  errors: [],
});

export const authParams = defineRoute({
  method: 'GET',
  paths: ['/auth/params'],
  access: 'public',
  query: z.object({ identifier: lineOfText(limits.emailMaxLength).check(z.minLength(1)) }),
  status: 200,
  response: PasswordParams,
  errors: [],
});

/** base64url of the 32-byte key that the client derives from the recovery key. Never the recovery key. */
export const RecoveryAuthKey = base64Url(32, 32);

export const recover = defineRoute({
  method: 'POST',
  paths: ['/recovery'],
  access: 'public',
  body: z.object({
    email: lineOfText(limits.emailMaxLength).check(z.minLength(1)),
    recoveryAuthKey: RecoveryAuthKey,
    /** The recovery key's proof key, which is stored if the account has none yet. */
    recoveryProofKey: z.optional(ProofKey),
    loginProof: z.optional(LoginProof),
  }),
  status: 200,
  response: SessionAnswer,
  errors: ['wrong-credentials', 'account-suspended'],
});

export const profile = defineRoute({
  method: 'GET',
  paths: ['/profile'],
  access: 'session',
  recovery: true,
  status: 200,
  response: Profile,
  errors: [],
});

const SealedVault = base64Url(limits.sealedVaultMax, limits.sealedVaultMin);
const KeyWrap = base64Url(limits.keyWrapMax, limits.keyWrapMin);

/** A vault under a new vault key, with new keys in it, in the place of the one at `version`. */
export const RotatedVault = z.object({
  version: intFrom(1),
  sealedVault: SealedVault,
  passwordWrap: KeyWrap,
  /** Null takes the recovery key away. */
  recoveryWrap: z.nullable(KeyWrap),
});
export type RotatedVault = z.infer<typeof RotatedVault>;

/** The sealed vault, which the relay can't open. */
export const Vault = z
  .object({ version: intFrom(1), sealedVault: SealedVault, hasRecoveryKey: z.boolean() })
  .register(z.globalRegistry, { id: 'Vault' });
export type Vault = z.infer<typeof Vault>;

/** The vault key, wrapped under keys from the password and from the recovery key. The relay can open neither. */
export const VaultWraps = z
  .object({ passwordWrap: KeyWrap, recoveryWrap: z.nullable(KeyWrap) })
  .register(z.globalRegistry, { id: 'VaultWraps' });
export type VaultWraps = z.infer<typeof VaultWraps>;

export const getVault = defineRoute({
  method: 'GET',
  paths: ['/vault'],
  access: 'session',
  recovery: true,
  status: 200,
  response: Vault,
  errors: ['not-found'],
});

export const getVaultWraps = defineRoute({
  method: 'GET',
  paths: ['/vault/wraps'],
  access: 'session',
  recovery: true,
  proof: {
    unless:
      'the session has no device yet and is younger than 15 minutes, so that it has just proven the password or the recovery key',
  },
  status: 200,
  response: VaultWraps,
  errors: ['not-found'],
});

export const getFormerVault = defineRoute({
  method: 'GET',
  paths: ['/vault/former'],
  access: 'session',
  proof: {},
  status: 200,
  response: z.object({
    version: intFrom(1),
    sealedVault: SealedVault,
    passwordWrap: KeyWrap,
    recoveryWrap: z.nullable(KeyWrap),
    replaced_at: Timestamp,
  }),
  errors: ['not-found'],
});

export const putVault = defineRoute({
  method: 'PUT',
  paths: ['/vault'],
  access: 'session',
  body: z.object({
    version: intFrom(0),
    sealedVault: SealedVault,
    /** Left out, the former stays; the first vault has one. */
    passwordWrap: z.optional(KeyWrap),
    /** Left out, the former stays; null takes the recovery key away. */
    recoveryWrap: z.optional(z.nullable(KeyWrap)),
    /** Lets the recovery key sign in. Left out, the former stays. */
    recoveryAuthKey: z.optional(RecoveryAuthKey),
    /** The recovery key's proof key, with its authKey. */
    recoveryProofKey: z.optional(ProofKey),
  }),
  proof: { unless: 'it is the first vault, which replaces nothing' },
  status: 200,
  response: z.object({ version: intFrom(1) }),
  errors: ['stale-version'],
  bodyLimit: 128 * 1024,
});

export const updateProfile = defineRoute({
  method: 'PUT',
  paths: ['/users/me'],
  access: 'session',
  body: z.object({
    username: Username,
    email: Email,
    /** The new username, signed by this session's device. Left out, what was signed for another username goes. */
    signed_name: z.optional(SignedName),
  }),
  proof: { unless: 'both stay, but for their case' },
  status: 200,
  response: Profile,
  errors: ['invalid-username', 'username-taken', 'email-taken', 'forbidden', 'stale-version'],
});

export const changePassword = defineRoute({
  method: 'PUT',
  paths: ['/users/me/password'],
  access: 'session',
  recovery: true,
  body: z.object({
    /** authKey of the password so far. Only a recovery session does without. */
    currentPassword: z.optional(AuthKey),
    password: AuthKey,
    passwordParams: PasswordParams,
    passwordProofKey: ProofKey,
    /** Sealed anew, so that who had the old password opens nothing of it. */
    vault: RotatedVault,
  }),
  proof: {},
  status: 200,
  /** The vault's new version. */
  response: z.object({ version: intFrom(1) }),
  errors: ['wrong-password', 'stale-version'],
});

/** By which of a person's names others find them, and whether those who search by the username are shown the email. */
export const Discoverability = z
  .object({ found_by: z.enum(['name', 'email', 'both', 'none']), shows_email: z.boolean() })
  .register(z.globalRegistry, { id: 'Discoverability' });
export type Discoverability = z.infer<typeof Discoverability>;

export const putDiscoverability = defineRoute({
  method: 'PUT',
  paths: ['/users/me/discoverability'],
  access: 'session',
  body: Discoverability,
  status: 204,
  errors: [],
});

export const AccountData = z
  .object({
    profile: Profile,
    /** When the person agreed to the privacy policy, by their own clock. */
    consented_at: Timestamp,
    discoverability: Discoverability,
    /** Absent where emails aren't verified: contract/emails.ts. */
    email_verified: z.optional(z.boolean()),
    /** The address that replaces the email once it is verified. */
    pending_email: z.optional(z.string()),
    /** The person is asked before somebody puts them into a group. */
    asked_first: z.boolean(),
    password_params: PasswordParams,
    sessions: z.array(OpenSession),
  })
  .register(z.globalRegistry, { id: 'AccountData' });
export type AccountData = z.infer<typeof AccountData>;

export const accountData = defineRoute({
  method: 'GET',
  paths: ['/users/me'],
  access: 'session',
  status: 200,
  response: AccountData,
  errors: [],
});

export const deleteAccount = defineRoute({
  method: 'DELETE',
  paths: ['/user'],
  access: 'session',
  proof: {},
  status: 204,
  errors: [],
});
