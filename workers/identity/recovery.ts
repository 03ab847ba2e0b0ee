/** The recovery key, and the change of the password. */
import {
  CryptoError,
  createRecoveryKey,
  decodeRecoveryKey,
  encodeRecoveryKey,
  equalBytes,
  openVault,
  proofKeyOf,
  ready,
  recoveryAuthKey,
  recoveryProofSeed,
  recoveryWrapKey,
  unwrapVaultKey,
  wipe,
  wrapVaultKey,
} from '@sinetti/crypto-core';
import {
  check,
  Id,
  Password,
  PasswordChange,
  PasswordCredential,
  RecoverableVault,
  RecoveryKeyText,
} from '../api/arguments.ts';
import type { CryptoApi, NewCredentials, WireBytes } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Session } from '../session/session.ts';
import { openAccount } from './account.ts';
import { type DerivedKeys, derivePasswordKeys, newPasswordKeys, type PasswordDeps } from './passwordKeys.ts';
import type { PendingProof } from './proofs.ts';

type RecoveryApi = Pick<
  CryptoApi,
  'createRecoveryKey' | 'confirmRecoveryKey' | 'beginRecovery' | 'recoverVault' | 'changePassword'
>;

export function createRecovery(
  deps: PasswordDeps,
  session: Session,
  pendingProof: PendingProof,
): RecoveryApi {
  const { env } = deps;
  /** Kept from beginRecovery until the vault is open. */
  let recoveryKey: Uint8Array | null = null;
  /** Kept from createRecoveryKey until another is created: the relay may have to be asked twice. */
  let created: Uint8Array | null = null;

  function keep(next: Uint8Array | null): void {
    if (recoveryKey !== null) wipe(recoveryKey);
    recoveryKey = next;
  }

  /**
   * Whoever calls the worker may be a script in the page. The vault key is wrapped anew for those alone who know the
   * password: such a wrap opens the vault, and with it everything.
   * @returns what the password signs proofs with. The rest of its secrets is wiped
   * @throws CryptoApiError `wrong-password`
   */
  async function requirePassword({ proofSeed, wrapKey }: DerivedKeys): Promise<Uint8Array> {
    const { vaultKey } = session.account().vault;
    const opens = (passwordWrap: Uint8Array): boolean => {
      try {
        return equalBytes(unwrapVaultKey(passwordWrap, wrapKey, 'password'), vaultKey);
      } catch (error) {
        if (error instanceof CryptoError && error.code === 'wrong-password') return false;
        throw error;
      }
    };
    const isRight = (await session.passwordWraps()).some(opens);
    wipe(wrapKey);
    if (isRight) return proofSeed;
    wipe(proofSeed);
    throw new CryptoApiError('wrong-password');
  }

  /** Derives the keys of a new password, and wraps the vault key for it. */
  function newCredentials(password: string, vaultKey: Uint8Array) {
    const { authKey, passwordParams, proofKey, proofSeed, wrapKey } = newPasswordKeys(deps, password);
    const passwordWrap = wrapVaultKey(vaultKey, wrapKey, 'password', env);
    wipe(wrapKey, proofSeed);
    const credentials: NewCredentials = {
      authKey,
      passwordParams,
      passwordWrap: toBase64Url(passwordWrap),
      proofKey,
    };
    return { credentials, passwordWrap };
  }

  return {
    async createRecoveryKey() {
      session.account();
      await ready();
      if (created !== null) wipe(created);
      created = createRecoveryKey(env);
      return { recoveryKey: encodeRecoveryKey(created) };
    },

    async confirmRecoveryKey(credential) {
      const { password, passwordParams } = check('confirmRecoveryKey', PasswordCredential, credential);
      if (created === null) throw new CryptoApiError('usage', 'no recovery key was created');
      await ready();
      const keys = derivePasswordKeys(deps, password, passwordParams);
      pendingProof.keep('password', await requirePassword(keys));
      const { vaultKey } = session.account().vault;
      return {
        authKey: keys.authKey,
        proofKey: keys.proofKey,
        recoveryAuthKey: toBase64Url(recoveryAuthKey(created)),
        recoveryProofKey: recoveryProofKey(created),
        recoveryWrap: toBase64Url(wrapVaultKey(vaultKey, recoveryWrapKey(created), 'recovery', env)),
      };
    },

    async beginRecovery(typed) {
      const text = check('beginRecovery', RecoveryKeyText, typed);
      await ready();
      const key = decodeRecoveryKey(text);
      keep(key);
      return { recoveryAuthKey: toBase64Url(recoveryAuthKey(key)), recoveryProofKey: recoveryProofKey(key) };
    },

    async recoverVault(userId, vault, newPassword) {
      check('recoverVault', Id, userId);
      check('recoverVault', Password, newPassword);
      const { sealedVault, recoveryWrap } = check('recoverVault', RecoverableVault, vault);
      if (recoveryKey === null) throw new CryptoApiError('usage', 'no recovery key was given');
      await ready();
      const vaultKey = unwrapVaultKey(recoveryWrap, recoveryWrapKey(recoveryKey), 'recovery');
      const opened = openVault(sealedVault, vaultKey, userId);
      const { credentials, passwordWrap } = newCredentials(newPassword, vaultKey);
      await openAccount(session, env, userId, opened, vaultKey, passwordWrap);
      pendingProof.keep('recovery', recoveryProofSeed(recoveryKey));
      keep(null);
      return credentials;
    },

    async changePassword(input) {
      const { currentPassword, currentParams, newPassword } = check('changePassword', PasswordChange, input);
      const { vault } = session.account();
      await ready();
      const current = derivePasswordKeys(deps, currentPassword, currentParams);
      const proofSeed = await requirePassword(current);
      const { credentials, passwordWrap } = newCredentials(newPassword, vault.vaultKey);
      await session.addPasswordWrap(passwordWrap);
      pendingProof.keep('password', proofSeed);
      return { ...credentials, currentAuthKey: current.authKey, currentProofKey: current.proofKey };
    },
  };
}

function recoveryProofKey(recoveryKey: Uint8Array): WireBytes {
  const proofSeed = recoveryProofSeed(recoveryKey);
  const proofKey = toBase64Url(proofKeyOf(proofSeed));
  wipe(proofSeed);
  return proofKey;
}
