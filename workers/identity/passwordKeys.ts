/** The keys that a password gives: one to show the relay, one that wraps the vault key, and one that signs proofs. */
import { wipe } from '@sinetti/crypto-core';
import { DEFAULT_PASSWORD_COST, passwordKeys, proofKeyOf } from '@sinetti/crypto-core/account';
import type { PasswordParams } from '../api/arguments.ts';
import type {
  NewCredentials,
  RotatedVault,
  WireBytes,
  PasswordParams as WireParams,
} from '../api/cryptoApi.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Guarded } from '../codec/guards.ts';
import type { SessionDeps } from '../session/session.ts';

export interface PasswordDeps extends SessionDeps {
  /**
   * Replaces Argon2id in tests that open hundreds of vaults. Passing it in production would give the relay
   * everybody's password.
   */
  readonly DANGEROUS_passwordKeysForTesting?: typeof passwordKeys;
}

export interface DerivedKeys {
  readonly authKey: WireBytes;
  readonly wrapKey: Uint8Array;
  /** Signs proofs; the caller wipes it. */
  readonly proofSeed: Uint8Array;
  /** The public half, by which the relay verifies them. */
  readonly proofKey: Uint8Array;
}

export function derivePasswordKeys(
  { DANGEROUS_passwordKeysForTesting: derive = passwordKeys }: PasswordDeps,
  password: string,
  { salt, opsLimit, memLimit }: Guarded<typeof PasswordParams>,
): DerivedKeys {
  const { authKey, wrapKey, proofSeed } = derive(password, { salt, opsLimit, memLimitBytes: memLimit });
  return {
    authKey: toBase64Url(authKey),
    wrapKey,
    proofSeed,
    proofKey: proofKeyOf(proofSeed),
  };
}

/** Derives the keys of a newly chosen password, with a fresh salt and today's cost. */
export function newPasswordKeys(
  deps: PasswordDeps,
  password: string,
): DerivedKeys & { readonly passwordParams: WireParams } {
  const salt = deps.env.random(16);
  const { opsLimit, memLimitBytes: memLimit } = DEFAULT_PASSWORD_COST;
  return {
    ...derivePasswordKeys(deps, password, { salt, opsLimit, memLimit }),
    passwordParams: { salt: toBase64Url(salt), opsLimit, memLimit },
  };
}

/** Derives the keys of a new password; `seal` seals the vault under them. */
export function sealUnderNewPassword(
  deps: PasswordDeps,
  password: string,
  seal: (keys: Pick<DerivedKeys, 'wrapKey' | 'proofKey'>) => RotatedVault,
): { readonly credentials: NewCredentials; readonly proofKey: Uint8Array } {
  const { authKey, passwordParams, proofKey, proofSeed, wrapKey } = newPasswordKeys(deps, password);
  const vault = seal({ wrapKey, proofKey });
  wipe(wrapKey, proofSeed);
  return { credentials: { authKey, passwordParams, proofKey: toBase64Url(proofKey), vault }, proofKey };
}

/** Writes what a request that sets a password holds of it, by the names of the relay's contract. */
export function passwordBody({ authKey, proofKey, ...others }: NewCredentials) {
  return { ...others, password: authKey, passwordProofKey: proofKey };
}
