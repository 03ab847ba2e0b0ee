import { t } from '../../i18n/i18n.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { keepProofKey, provePending } from '../core/proofs.ts';
import { fetchSealedVault } from './enrolment.ts';

/**
 * Asks for the present password and a new one, and wraps the vault key under that, in one call with the proof of the
 * present one. The relay ends all other sessions of the person with it.
 * @throws AppError `cancelled`
 */
export async function changePassword(
  deps: Pick<Deps, 'api' | 'crypto' | 'store'>,
  { confirm }: Pick<Confirmation, 'confirm'>,
): Promise<void> {
  const { api, crypto, store } = deps;
  try {
    const target = store.get(currentUserAtom)?.username ?? '';
    const prove = await confirm({ kind: 'change-password', target, id: null });
    const [{ authKey, currentAuthKey, proofKey, ...credentials }, { version }] = await Promise.all([
      crypto.changePassword(),
      api.getVault(),
    ]);
    await api.changePassword(
      {
        ...credentials,
        currentPassword: currentAuthKey,
        password: authKey,
        passwordProofKey: proofKey,
        version,
      },
      prove,
    );
    await keepProofKey(deps, proofKey);
  } catch (error) {
    throw toAppError(error, t('recovery.changePasswordFailed'));
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
  const { authKey, proofKey, ...wrapped } = await crypto.recoverVault(userId, vault, newPassword);
  const change = { ...wrapped, password: authKey, passwordProofKey: proofKey, version: vault.version };
  await api.changePassword(change, provePending(deps, 'recovery'));
  await keepProofKey(deps, proofKey);
}
