import { useAtomValue, useSetAtom } from 'jotai';
import { KeyRound } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { recoveryKeyAtom } from '../../store/recovery.ts';
import { Button } from '../../ui/Button.tsx';
import { Card, CardRow } from '../../ui/Card.tsx';
import { useSetUpRecoveryKey } from './useSetUpRecoveryKey.ts';

const stateTexts = {
  unknown: 'recovery.card.unknown',
  none: 'recovery.card.none',
  present: 'recovery.card.present',
} as const;

/** The two ways to one's keys: the password and the recovery key, both of which are typed and shown in the frame of the keys. */
export function RecoveryCard({ id }: { id?: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const state = useAtomValue(recoveryKeyAtom);
  const setUpRecoveryKey = useSetUpRecoveryKey();
  const outcome = {
    success: t('recovery.password.changed'),
    failure: t('recovery.changePasswordFailed'),
  };
  return (
    <Card
      title={t('recovery.card.title')}
      icon={<KeyRound />}
      description={t('recovery.card.lead')}
      {...(id !== undefined && { id })}
    >
      <CardRow
        title={t('recovery.card.password')}
        description={t('recovery.password.lead')}
        control={
          <Button
            aria-haspopup="dialog"
            onClick={() => void attempt(() => actions.changePassword(), outcome)}
          >
            {t('recovery.card.change')}
          </Button>
        }
      />
      <CardRow
        title={t('recovery.card.recoveryKey')}
        description={t(stateTexts[state])}
        control={
          state !== 'unknown' && (
            <Button
              variant={state === 'none' ? 'primary' : 'secondary'}
              aria-haspopup="dialog"
              onClick={setUpRecoveryKey}
            >
              {t(state === 'none' ? 'recovery.card.create' : 'recovery.card.replace')}
            </Button>
          )
        }
      />
    </Card>
  );
}
