import { t } from '../../i18n/i18n.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { checkedNames, type OwnNames } from './ownNames.ts';
import { keepProfile } from './ownProfile.ts';

/**
 * Changes the names that the person goes by, here and at log-in.
 * @throws AppError as of {@link checkedNames}; `username-taken`, `email-taken`
 */
export async function updateProfile(
  { api, crypto, store }: Pick<Deps, 'api' | 'crypto' | 'store'>,
  change: OwnNames,
  { confirmWithPassword }: Pick<Confirmation, 'confirmWithPassword'>,
): Promise<void> {
  const names = checkedNames(change);
  try {
    const isSameEmail = names.email.toLowerCase() === store.get(currentUserAtom)?.email.toLowerCase();
    const user = await api.updateProfile(
      names,
      isSameEmail ? undefined : confirmWithPassword({ kind: 'change-email', target: names.email, id: null }),
    );
    store.set(currentUserAtom, user);
    // For an offline start; the next answered one mends it.
    await keepProfile(crypto, user).catch(() => undefined);
  } catch (error) {
    throw toAppError(error, t('errors.updateProfileFailed'));
  }
}
