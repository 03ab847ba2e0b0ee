/** The recovery key, and the change of the password. */
import { ready, wipe } from '@sinetti/crypto-core';
import {
  decodeRecoveryKey,
  openVault,
  proofKeyOf,
  recoveryAuthKey,
  recoveryKeyPair,
  recoveryProofSeed,
  unwrapByRecoveryKey,
} from '@sinetti/crypto-core/account';
import { check, Id, Password, RecoverableVault, RecoveryKeyText, StoredVault } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Session } from '../session/session.ts';
import { vaultOpening } from '../session/vaultOpening.ts';
import { openAccount } from './account.ts';
import type { Confirmations } from './confirmations.ts';
import { type PasswordDeps, passwordBody, sealUnderNewPassword } from './passwordKeys.ts';
import { type Rotation, requireVersion } from './rotation.ts';

export function createRecovery(
  deps: PasswordDeps,
  session: Session,
  confirmations: Confirmations,
  rotation: Rotation,
) {
  const { env } = deps;
  /** Kept from beginRecovery until the vault is open. */
  let recoveryKey: Uint8Array | null = null;

  function keep(next: Uint8Array | null): void {
    if (recoveryKey !== null) wipe(recoveryKey);
    recoveryKey = next;
  }

  return {
    async replaceRecoveryKey(given) {
      const stored = check('replaceRecoveryKey', StoredVault, given);
      const confirmed = confirmations.take(['create-recovery-key', 'replace-recovery-key'], null);
      if (confirmed.recoveryKey === null) throw new CryptoApiError('usage', 'no recovery key was kept');
      const kept = confirmed.recoveryKey.slice();
      const { userId } = session.account();
      const body = await rotation.withVault(stored, confirmed.keys, (vault, password) => {
        const { publicKey } = recoveryKeyPair(kept);
        const change = { password, recoveryPublicKey: publicKey };
        return { ...rotation.seal(userId, vault, stored.version, change), ...publicPartsOf(kept) };
      });
      wipe(kept);
      confirmations.bind(confirmed, body);
      return body;
    },

    async beginRecovery(typed) {
      const text = check('beginRecovery', RecoveryKeyText, typed);
      await ready();
      const key = decodeRecoveryKey(text);
      keep(key);
      return publicPartsOf(key);
    },

    async recoverVault(userId, given, newPassword) {
      check('recoverVault', Id, userId);
      check('recoverVault', Password, newPassword);
      const { sealedVault, recoveryWrap, version } = check('recoverVault', RecoverableVault, given);
      if (recoveryKey === null) throw new CryptoApiError('usage', 'no recovery key was given');
      await ready();
      const vaultKey = unwrapByRecoveryKey(recoveryWrap, recoveryKey, userId);
      const { formerState, vault } = openVault(sealedVault, vaultKey, userId);
      wipe(vaultKey);
      requireVersion(vault, version);
      const { publicKey } = recoveryKeyPair(recoveryKey);
      const { credentials, proofKey } = sealUnderNewPassword(deps, newPassword, (password) =>
        rotation.seal(userId, vault, version, { password, recoveryPublicKey: publicKey }),
      );
      // With the keys so far: the new ones count once the relay has taken them.
      const opening = vaultOpening(userId, { vault, version, proofKey });
      await openAccount(session, env, userId, opening, formerState);
      confirmations.keepRecovery(recoveryProofSeed(recoveryKey), passwordBody(credentials));
      keep(null);
      return credentials;
    },

    async changePassword(given) {
      const stored = check('changePassword', StoredVault, given);
      const confirmed = confirmations.take(['change-password'], null);
      const { keys, newPassword } = confirmed;
      if (newPassword === null) throw new CryptoApiError('usage', 'no new password was typed');
      const { userId } = session.account();
      const { credentials, proofKey } = await rotation.withVault(stored, keys, (vault) =>
        sealUnderNewPassword(deps, newPassword, (password) =>
          rotation.seal(userId, vault, stored.version, { password }),
        ),
      );
      await session.addProofKey(proofKey);
      confirmations.bind(confirmed, passwordBody(credentials));
      return { ...credentials, currentAuthKey: confirmed.keys.authKey };
    },
  } satisfies Partial<CryptoApi>;
}

/** The parts of a recovery key that the relay gets. */
function publicPartsOf(recoveryKey: Uint8Array) {
  const proofSeed = recoveryProofSeed(recoveryKey);
  const recoveryProofKey = toBase64Url(proofKeyOf(proofSeed));
  wipe(proofSeed);
  return { recoveryAuthKey: toBase64Url(recoveryAuthKey(recoveryKey)), recoveryProofKey };
}
