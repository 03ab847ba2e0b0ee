import { t } from '../../i18n/i18n.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';
import { takeSignedNames } from '../core/signedNames.ts';
import { checkedNames, type OwnNames } from './ownNames.ts';
import { keepProfile } from './ownProfile.ts';

/**
 * Changes the names that the person goes by, here and at log-in.
 * @throws AppError as of {@link checkedNames}; `username-taken`, `email-taken`
 */
export async function updateProfile(
  { api, crypto, store }: Pick<Deps, 'api' | 'crypto' | 'store'>,
  change: OwnNames,
  { confirm }: Pick<Confirmation, 'confirm'>,
): Promise<void> {
  const names = checkedNames(change);
  try {
    const target = `${names.username} ${names.email}`;
    const known = store.get(currentUserAtom);
    const isKnown = target.toLowerCase() === `${known?.username} ${known?.email}`.toLowerCase();
    // Another device may have signed one since: contacts keep the newest.
    if (!isKnown && known !== null) await takeSignedNames({ api, crypto }, [known.id]);
    const prove = isKnown ? undefined : await confirm({ kind: 'change-names', target, id: null });
    const signed = isKnown ? null : await crypto.signName(names.username);
    const user = await api.updateProfile(
      { ...names, ...(signed === null ? {} : { signed_name: signed }) },
      prove,
    );
    store.set(currentUserAtom, user);
    // For an offline start; the next answered one mends it.
    await keepProfile(crypto, user).catch(() => undefined);
  } catch (error) {
    throw toAppError(error, t('errors.updateProfileFailed'));
  }
}
