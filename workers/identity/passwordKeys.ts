/** What a password becomes: one key to show, and one that wraps the vault's. */
import { DEFAULT_PASSWORD_COST, passwordKeys } from '@sinetti/crypto-core';
import type { PasswordParams } from '../api/arguments.ts';
import type { WireBytes, PasswordParams as WireParams } from '../api/cryptoApi.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Guarded } from '../codec/guards.ts';
import type { SessionDeps } from '../session/session.ts';

export interface PasswordDeps extends SessionDeps {
  /**
   * In place of Argon2id, for tests that open hundreds of vaults. Whoever passes this in production gives the
   * relay everybody's password.
   */
  readonly DANGEROUS_passwordKeysForTesting?: typeof passwordKeys;
}

interface DerivedKeys {
  readonly authKey: WireBytes;
  readonly wrapKey: Uint8Array;
}

export function derivePasswordKeys(
  { DANGEROUS_passwordKeysForTesting: derive = passwordKeys }: PasswordDeps,
  password: string,
  { salt, opsLimit, memLimit }: Guarded<typeof PasswordParams>,
): DerivedKeys {
  const { authKey, wrapKey } = derive(password, { salt, opsLimit, memLimitBytes: memLimit });
  return { authKey: toBase64Url(authKey), wrapKey };
}

/** Of a password that is being chosen: under a fresh salt, at today's cost. */
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
