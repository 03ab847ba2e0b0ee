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
  unknown: 'recoveryForms.card.unknown',
  none: 'recoveryForms.card.none',
  present: 'recoveryForms.card.present',
} as const;

/** The two ways to one's keys: the password and the recovery key, both of which are typed and shown in the frame of the keys. */
export function RecoveryCard({ id }: { id?: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const state = useAtomValue(recoveryKeyAtom);
  const setUpRecoveryKey = useSetUpRecoveryKey();
  const outcome = {
    success: t('recoveryForms.password.changed'),
    failure: t('recoveryForms.changePasswordFailed'),
  };
  return (
    <Card
      title={t('recoveryForms.card.title')}
      icon={<KeyRound />}
      description={t('recoveryForms.card.lead')}
      {...(id !== undefined && { id })}
    >
      <CardRow
        title={t('recoveryForms.card.password')}
        description={t('recoveryForms.password.lead')}
        control={
          <Button
            aria-haspopup="dialog"
            onClick={() => void attempt(() => actions.changePassword(), outcome)}
          >
            {t('recoveryForms.card.change')}
          </Button>
        }
      />
      <CardRow
        title={t('recoveryForms.card.recoveryKey')}
        description={t(stateTexts[state])}
        control={
          state !== 'unknown' && (
            <Button
              variant={state === 'none' ? 'primary' : 'secondary'}
              aria-haspopup="dialog"
              onClick={setUpRecoveryKey}
            >
              {t(state === 'none' ? 'recoveryForms.card.create' : 'recoveryForms.card.replace')}
            </Button>
          )
        }
      />
    </Card>
  );
}
