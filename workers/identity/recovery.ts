/** The recovery key, and the change of the password. */
import {
  createRecoveryKey,
  decodeRecoveryKey,
  encodeRecoveryKey,
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
import { check, Id, Password, PasswordChange, RecoverableVault, RecoveryKeyText } from '../api/arguments.ts';
import type { CryptoApi, NewCredentials, WireBytes } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Session } from '../session/session.ts';
import { openAccount } from './account.ts';
import { derivePasswordKeys, newPasswordKeys, type PasswordDeps } from './passwordKeys.ts';
import type { PendingProof } from './proofs.ts';

type RecoveryApi = Pick<CryptoApi, 'createRecoveryKey' | 'beginRecovery' | 'recoverVault' | 'changePassword'>;

export function createRecovery(
  deps: PasswordDeps,
  session: Session,
  pendingProof: PendingProof,
): RecoveryApi {
  const { env } = deps;
  /** Kept from beginRecovery until the vault is open. */
  let recoveryKey: Uint8Array | null = null;

  function keep(next: Uint8Array | null): void {
    if (recoveryKey !== null) wipe(recoveryKey);
    recoveryKey = next;
  }

  function newCredentials(password: string, vaultKey: Uint8Array): NewCredentials {
    const { authKey, passwordParams, proofKey, proofSeed, wrapKey } = newPasswordKeys(deps, password);
    const passwordWrap = toBase64Url(wrapVaultKey(vaultKey, wrapKey, 'password', env));
    wipe(wrapKey, proofSeed);
    return { authKey, passwordParams, passwordWrap, proofKey };
  }

  return {
    async createRecoveryKey() {
      const { vault } = session.account();
      const key = createRecoveryKey(env);
      const created = {
        recoveryKey: encodeRecoveryKey(key),
        recoveryAuthKey: toBase64Url(recoveryAuthKey(key)),
        recoveryProofKey: recoveryProofKey(key),
        recoveryWrap: toBase64Url(wrapVaultKey(vault.vaultKey, recoveryWrapKey(key), 'recovery', env)),
      };
      wipe(key);
      return created;
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
      const credentials = newCredentials(newPassword, vaultKey);
      await openAccount(session, env, userId, opened, vaultKey);
      pendingProof.keep('recovery', recoveryProofSeed(recoveryKey));
      keep(null);
      return credentials;
    },

    async changePassword(input) {
      const { currentPassword, currentParams, newPassword } = check('changePassword', PasswordChange, input);
      const { vault } = session.account();
      await ready();
      const current = derivePasswordKeys(deps, currentPassword, currentParams);
      wipe(current.wrapKey);
      const credentials = newCredentials(newPassword, vault.vaultKey);
      pendingProof.keep('password', current.proofSeed);
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
