import { t } from '../../i18n/i18n.ts';
import type { Retention } from '../../store/actions.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

/** @throws AppError */
export async function loadRetention({ api }: Pick<Deps, 'api'>): Promise<Retention> {
  try {
    return await api.getStorage();
  } catch (error) {
    throw toAppError(error, t('retention.failed'));
  }
}
