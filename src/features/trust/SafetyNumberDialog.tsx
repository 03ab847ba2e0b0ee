import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { SafetyNumbers } from '../../store/trust.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { Comparison } from './Comparison.tsx';
import styles from './SafetyNumberDialog.module.css';

interface SafetyNumberProps {
  userId: string;
  name: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function SafetyNumberDialog({ userId, name, open, onOpenChange }: SafetyNumberProps) {
  const [attempt, setAttempt] = useState(0);
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('safetyNumber.compare.title', { name })}>
      <Numbers key={attempt} userId={userId} name={name} onAgain={() => setAttempt((count) => count + 1)} />
    </Dialog>
  );
}

interface NumbersProps {
  userId: string;
  name: string;
  /** Loads the numbers again, because they have changed or could not be loaded. */
  onAgain: () => void;
}

function Numbers({ userId, name, onAgain }: NumbersProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const [numbers, setNumbers] = useState<SafetyNumbers | null>(null);
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    let shown = true;
    actions.loadSafetyNumbers(userId).then(
      (loaded) => shown && setNumbers(loaded),
      (error: unknown) => shown && setFailure(errorText(error, t('trust.loadFailed'))),
    );
    return () => {
      shown = false;
    };
  }, [actions, userId]);

  if (failure !== null) {
    return (
      <Alert
        kind="error"
        action={
          <Button size="small" onClick={onAgain}>
            {t('safetyNumber.retry')}
          </Button>
        }
      >
        {failure}
      </Alert>
    );
  }
  if (numbers === null) return <LoadingLine text={t('safetyNumber.loading')} />;
  return (
    <div className={styles.body}>
      <p>
        <RichText id="safetyNumber.compare.lead" parts={{ name: <bdi>{name}</bdi> }} />
      </p>
      <Comparison userId={userId} name={name} numbers={numbers} onDecided={onAgain} />
    </div>
  );
}
