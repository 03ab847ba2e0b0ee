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
    const target = `${names.username} ${names.email}`;
    const known = store.get(currentUserAtom);
    const isKnown = target.toLowerCase() === `${known?.username} ${known?.email}`.toLowerCase();
    const prove = isKnown ? undefined : confirmWithPassword({ kind: 'change-names', target, id: null });
    const user = await api.updateProfile(names, prove);
    store.set(currentUserAtom, user);
    // For an offline start; the next answered one mends it.
    await keepProfile(crypto, user).catch(() => undefined);
  } catch (error) {
    throw toAppError(error, t('errors.updateProfileFailed'));
  }
}
