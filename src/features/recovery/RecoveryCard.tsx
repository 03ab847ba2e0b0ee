import { useAtomValue } from 'jotai';
import { KeyRound } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { recoveryKeyAtom } from '../../store/recovery.ts';
import { Button } from '../../ui/Button.tsx';
import { Card, CardBody, CardRow } from '../../ui/Card.tsx';
import { ChangePasswordForm } from './ChangePasswordForm.tsx';
import { RecoveryKeyDialog } from './RecoveryKeyDialog.tsx';

const stateTexts = {
  unknown: 'recovery.card.unknown',
  none: 'recovery.card.none',
  present: 'recovery.card.present',
} as const;

/** The two ways to one's keys: the password and the recovery key. */
export function RecoveryCard({ id }: { id?: string }) {
  const state = useAtomValue(recoveryKeyAtom);
  const [changing, setChanging] = useState(false);
  const [making, setMaking] = useState(false);
  const change = useRef<HTMLButtonElement>(null);
  const returning = useRef(false);

  // The form that had the focus is gone.
  useEffect(() => {
    if (!changing && returning.current) change.current?.focus();
    returning.current = changing;
  }, [changing]);

  return (
    <Card
      title={t('recovery.card.title')}
      icon={<KeyRound />}
      description={t('recovery.card.lead')}
      {...(id !== undefined && { id })}
    >
      {changing ? (
        <CardBody>
          <ChangePasswordForm onDone={() => setChanging(false)} />
        </CardBody>
      ) : (
        <CardRow
          title={t('recovery.card.password')}
          description={t('recovery.password.lead')}
          control={
            <Button ref={change} onClick={() => setChanging(true)}>
              {t('recovery.card.change')}
            </Button>
          }
        />
      )}
      <CardRow
        title={t('recovery.card.recoveryKey')}
        description={t(stateTexts[state])}
        control={
          state !== 'unknown' && (
            <Button
              variant={state === 'none' ? 'primary' : 'secondary'}
              aria-haspopup="dialog"
              onClick={() => setMaking(true)}
            >
              {t(state === 'none' ? 'recovery.card.create' : 'recovery.card.replace')}
            </Button>
          )
        }
      />
      <RecoveryKeyDialog open={making} onOpenChange={setMaking} />
    </Card>
  );
}
