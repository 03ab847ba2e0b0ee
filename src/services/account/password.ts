import { t } from '../../i18n/i18n.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { provePending } from '../core/proofs.ts';
import { fetchSealedVault } from './enrolment.ts';
import type { KeyRenewal } from './keyRenewal.ts';

/**
 * Asks for the present password and a new one, and seals the vault anew under that, in one call with the proof of the
 * present one. The relay ends all other sessions of the person with it.
 * @throws AppError `cancelled`
 */
export async function changePassword(
  { api, crypto, store }: Pick<Deps, 'api' | 'crypto' | 'store'>,
  { confirm }: Pick<Confirmation, 'confirm'>,
  { renew }: Pick<KeyRenewal, 'renew'>,
): Promise<void> {
  try {
    const target = store.get(currentUserAtom)?.username ?? '';
    const prove = await confirm({ kind: 'change-password', target, id: null });
    await renew(prove, async (vault) => {
      const { authKey, currentAuthKey, proofKey, ...changed } = await crypto.changePassword(vault);
      const body = { ...changed, password: authKey, passwordProofKey: proofKey };
      const submit = () => api.changePassword({ ...body, currentPassword: currentAuthKey }, prove);
      return { vault: changed.vault, submit };
    });
  } catch (error) {
    throw toAppError(error, t('recoveryForms.changePasswordFailed'));
  }
}

/** In a session that only the recovery key was proven for: opens the vault by it, and sets a new password. */
export async function replaceForgottenPassword(
  deps: Pick<Deps, 'api' | 'crypto'>,
  userId: string,
  newPassword: string,
): Promise<void> {
  const { api, crypto } = deps;
  const vault = await fetchSealedVault(deps);
  const { authKey, proofKey, ...changed } = await crypto.recoverVault(userId, vault, newPassword);
  const body = { ...changed, password: authKey, passwordProofKey: proofKey };
  await api.changePassword(body, provePending(deps, 'recovery'));
  await crypto.adoptRenewedKeys(changed.vault.sealedVault);
}
