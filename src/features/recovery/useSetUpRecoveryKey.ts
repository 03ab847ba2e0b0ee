import { useAtomValue, useSetAtom } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';

/** Returns what has the person keep a new recovery key, and says when it is on. */
export function useSetUpRecoveryKey(): () => void {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  return () =>
    void attempt(() => actions.setUpRecoveryKey(), {
      success: t('recovery.on'),
      failure: t('recovery.saveFailed'),
    });
}
