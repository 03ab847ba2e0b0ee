import { t } from '../../i18n/i18n.ts';
import type { AppActions } from '../../store/actions.ts';
import { blocksAtom } from '../../store/blocks.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

/** See AppActions.updateBlocks. @throws AppError */
export async function updateBlocks(
  { api, store }: Pick<Deps, 'api' | 'store'>,
  change: Parameters<AppActions['updateBlocks']>[0],
): Promise<void> {
  if (change !== undefined) {
    const { blocked, userId } = change;
    try {
      await api.setBlocked(userId, blocked);
    } catch (error) {
      throw toAppError(error, t(blocked ? 'blocks.blockFailed' : 'blocks.unblockFailed'));
    }
  }
  try {
    store.set(blocksAtom, await api.listBlocks());
  } catch (error) {
    throw toAppError(error, t('blocks.failed'));
  }
}
