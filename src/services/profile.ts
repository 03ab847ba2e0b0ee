import { t } from '../i18n/i18n.ts';
import { AppError } from '../lib/appError.ts';
import { Email, Username } from '../net/contract.ts';
import { currentUserAtom } from '../store/session.ts';
import type { Deps } from './deps.ts';
import { toAppError } from './failures.ts';
import { keepProfile } from './ownProfile.ts';

export interface ProfileChange {
  readonly username: string;
  readonly email: string;
}

/**
 * Changes the names that the person goes by, here and at log-in.
 * @throws AppError `invalid-username`, `invalid-email` without asking the relay; `username-taken`, `email-taken`
 */
export async function updateProfile(
  { api, crypto, store }: Pick<Deps, 'api' | 'crypto' | 'store'>,
  change: ProfileChange,
): Promise<void> {
  const username = Username.safeParse(change.username);
  if (!username.success) throw new AppError('invalid-username', t('errors.invalidUsername'));
  const email = Email.safeParse(change.email.trim());
  if (!email.success) throw new AppError('invalid-email', t('errors.invalidEmail'));
  try {
    const user = await api.updateProfile({ username: username.data, email: email.data });
    store.set(currentUserAtom, user);
    // For an offline start; the next answered one mends it.
    await keepProfile(crypto, user).catch(() => undefined);
  } catch (error) {
    throw toAppError(error, t('errors.updateProfileFailed'));
  }
}
