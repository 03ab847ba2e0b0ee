/** The recovery key, and the change of the password. */
import {
  decodeRecoveryKey,
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
import { check, Id, Password, RecoverableVault, RecoveryKeyText } from '../api/arguments.ts';
import type { CryptoApi, NewCredentials, WireBytes } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Session } from '../session/session.ts';
import { openAccount } from './account.ts';
import type { Confirmations } from './confirmations.ts';
import { newPasswordKeys, type PasswordDeps } from './passwordKeys.ts';

type RecoveryApi = Pick<
  CryptoApi,
  'confirmRecoveryKey' | 'beginRecovery' | 'recoverVault' | 'changePassword'
>;

export function createRecovery(
  deps: PasswordDeps,
  session: Session,
  confirmations: Confirmations,
): RecoveryApi {
  const { env } = deps;
  /** Kept from beginRecovery until the vault is open. */
  let recoveryKey: Uint8Array | null = null;

  function keep(next: Uint8Array | null): void {
    if (recoveryKey !== null) wipe(recoveryKey);
    recoveryKey = next;
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
    async confirmRecoveryKey() {
      const confirmed = confirmations.take(['create-recovery-key', 'replace-recovery-key'], null);
      const { recoveryKey: kept } = confirmed;
      if (kept === null) throw new CryptoApiError('usage', 'no recovery key was kept');
      await ready();
      const { vaultKey } = session.account().vault;
      const parts = {
        recoveryAuthKey: toBase64Url(recoveryAuthKey(kept)),
        recoveryProofKey: recoveryProofKey(kept),
        recoveryWrap: toBase64Url(wrapVaultKey(vaultKey, recoveryWrapKey(kept), 'recovery', env)),
      };
      confirmations.bind(confirmed, parts);
      return parts;
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
      confirmations.keepRecovery(recoveryProofSeed(recoveryKey), bodyOf(credentials));
      keep(null);
      return credentials;
    },

    async changePassword() {
      const confirmed = confirmations.take(['change-password'], null);
      if (confirmed.newPassword === null) throw new CryptoApiError('usage', 'no new password was typed');
      const { vaultKey } = session.account().vault;
      await ready();
      const { credentials, passwordWrap } = newCredentials(confirmed.newPassword, vaultKey);
      await session.addPasswordWrap(passwordWrap);
      confirmations.bind(confirmed, bodyOf(credentials));
      return { ...credentials, currentAuthKey: confirmed.keys.authKey };
    },
  };
}

/** Writes what the request that sets a password holds of it, by the names of the relay's contract. */
function bodyOf({ authKey, proofKey, ...wrapped }: NewCredentials) {
  return { ...wrapped, password: authKey, passwordProofKey: proofKey };
}

function recoveryProofKey(recoveryKey: Uint8Array): WireBytes {
  const proofSeed = recoveryProofSeed(recoveryKey);
  const proofKey = toBase64Url(proofKeyOf(proofSeed));
  wipe(proofSeed);
  return proofKey;
}
