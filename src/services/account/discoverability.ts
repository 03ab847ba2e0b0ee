import { t } from '../../i18n/i18n.ts';
import type { Discoverability } from '../../store/actions.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

/** @throws AppError */
export async function loadDiscoverability({ api }: Pick<Deps, 'api'>): Promise<Discoverability> {
  try {
    return (await api.accountData()).discoverability;
  } catch (error) {
    throw toAppError(error, t('profile.found.failed'));
  }
}

/** @throws AppError */
export async function setDiscoverability({ api }: Pick<Deps, 'api'>, change: Discoverability): Promise<void> {
  try {
    await api.putDiscoverability(change);
  } catch (error) {
    throw toAppError(error, t('profile.found.failed'));
  }
}
