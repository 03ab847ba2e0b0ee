import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from '../core/deps.ts';
import { failureCode, toAppError } from '../core/failures.ts';
import { establishProofKey, keepProofKey, provePending } from '../core/proofs.ts';
import { fetchSealedVault } from './enrolment.ts';

export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/**
 * Wraps the vault key under the new password, in one call with the proof of the old one. The relay ends all other
 * sessions of the person with it.
 * @throws AppError `wrong-password`
 */
export async function changePassword(
  deps: Pick<Deps, 'api' | 'crypto' | 'store'>,
  { currentPassword, newPassword }: PasswordChange,
): Promise<void> {
  const { api, crypto, store } = deps;
  try {
    const username = store.get(currentUserAtom)?.username ?? '';
    const [currentParams, { passwordKey, version }] = await Promise.all([
      api.authParams(username),
      api.createProofNonce(),
    ]);
    const { currentAuthKey, currentProofKey, authKey, proofKey, ...credentials } =
      await crypto.changePassword({ currentPassword, currentParams, newPassword });
    await establishProofKey(deps, { authKey: currentAuthKey, proofKey: currentProofKey }, passwordKey);
    await api.changePassword(
      {
        ...credentials,
        currentPassword: currentAuthKey,
        password: authKey,
        passwordProofKey: proofKey,
        version,
      },
      provePending(deps),
    );
    await keepProofKey(deps, proofKey);
  } catch (error) {
    if (failureCode(error) === 'wrong-password') {
      throw new AppError('wrong-password', t('recovery.wrongPassword'), { cause: error });
    }
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
  await api.changePassword(change, provePending(deps));
  await keepProofKey(deps, proofKey);
}
