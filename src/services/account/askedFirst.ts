import { t } from '../../i18n/i18n.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

/** Asks whether the person is asked before somebody puts them into a group, or changes it. @throws AppError */
export async function updateAskedFirst(
  { api }: Pick<Deps, 'api'>,
  change: boolean | undefined,
): Promise<boolean> {
  try {
    if (change === undefined) return (await api.accountData()).asked_first;
    await api.putAskedFirst(change);
    return change;
  } catch (error) {
    throw toAppError(error, t('profile.found.failed'));
  }
}
