import { useAtomValue, useSetAtom, useStore } from 'jotai';
import { ShieldAlert } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { accountChangesAtom } from '../../store/accountChanges.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { Button } from '../../ui/Button.tsx';
import { Card, CardRow } from '../../ui/Card.tsx';
import styles from './MoveOnCard.module.css';

const costs = [
  'movingOn.cost.contacts',
  'movingOn.cost.browsers',
  'movingOn.cost.password',
  'movingOn.cost.recoveryKey',
  'movingOn.cost.messages',
] as const;

/** The way out when somebody had the password or the recovery key: a new account key, and what that costs. */
export function MoveOnCard({ id }: { id?: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const store = useStore();
  const [busy, setBusy] = useState(false);

  async function start() {
    setBusy(true);
    const outcome = { success: t('movingOn.done'), failure: t('movingOn.failed') };
    const hasMoved = await attempt(() => actions.moveOn(), outcome);
    setBusy(false);
    if (!hasMoved) return;
    // It was the answer to all of them. One that can't be noted as judged is told of again.
    for (let told = store.get(accountChangesAtom).length; told > 0; told--) {
      await actions.acknowledgeAccountChange().catch(() => undefined);
    }
  }

  return (
    <Card
      title={t('movingOn.title')}
      icon={<ShieldAlert />}
      description={t('movingOn.lead')}
      {...(id !== undefined && { id })}
    >
      <CardRow
        title={t('movingOn.costs')}
        control={
          <Button aria-haspopup="dialog" busy={busy} onClick={() => void start()}>
            {t('movingOn.start')}
          </Button>
        }
      >
        <ul className={styles.costs}>
          {costs.map((cost) => (
            <li key={cost}>{t(cost)}</li>
          ))}
        </ul>
      </CardRow>
    </Card>
  );
}
