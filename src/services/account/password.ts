import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from '../core/deps.ts';
import { failureCode, toAppError } from '../core/failures.ts';

export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/**
 * Re-wraps the vault key under the new password, in one call with the proof of the old one. The relay ends all other
 * sessions of the person with it.
 * @throws AppError `wrong-password`
 */
export async function changePassword(
  { api, crypto, store }: Pick<Deps, 'api' | 'crypto' | 'store'>,
  { currentPassword, newPassword }: PasswordChange,
): Promise<void> {
  try {
    const username = store.get(currentUserAtom)?.username ?? '';
    const [currentParams, { passwordWrap, version }] = await Promise.all([
      api.authParams(username),
      api.getVault(),
    ]);
    const { currentAuthKey, authKey, ...credentials } = await crypto.changePassword({
      currentPassword,
      currentParams,
      newPassword,
      passwordWrap,
    });
    await api.changePassword({ ...credentials, currentPassword: currentAuthKey, password: authKey, version });
  } catch (error) {
    if (failureCode(error) === 'wrong-password') {
      throw new AppError('wrong-password', t('recovery.wrongPassword'), { cause: error });
    }
    throw toAppError(error, t('recovery.changePasswordFailed'));
  }
}

/** In a session that only the recovery key was proven for: opens the vault by it, and sets a new password. */
export async function replaceForgottenPassword(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  userId: string,
  newPassword: string,
): Promise<void> {
  const vault = await api.getVault();
  const { authKey, ...wrapped } = await crypto.recoverVault(userId, vault, newPassword);
  await api.changePassword({ ...wrapped, password: authKey, version: vault.version });
}
