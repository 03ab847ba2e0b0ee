import { useAtomValue } from 'jotai';
import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { recoveryKeyAtom } from '../../store/recovery.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { focusOnMount } from '../../ui/focus.ts';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { ConfirmRecoveryKey } from './ConfirmRecoveryKey.tsx';
import styles from './RecoveryKeyDialog.module.css';
import { ShownRecoveryKey } from './ShownRecoveryKey.tsx';

interface RecoveryKeyDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Makes a recovery key, shows it this once, and turns it on when the person has shown that they kept it. */
export function RecoveryKeyDialog({ open, onOpenChange }: RecoveryKeyDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('recovery.dialog.title')}>
      {/* Nothing of the key stays on the page once the dialog is closed. */}
      <Steps onDone={() => onOpenChange(false)} />
    </Dialog>
  );
}

function Steps({ onDone }: { onDone: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const [replaces] = useState(useAtomValue(recoveryKeyAtom) === 'present');
  const [step, setStep] = useState<'show' | 'confirm' | 'done'>('show');
  const [recoveryKey, setRecoveryKey] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    let wanted = true;
    actions.createRecoveryKey().then(
      (key) => wanted && setRecoveryKey(key),
      (error: unknown) => wanted && setFailure(errorText(error, t('recovery.createFailed'))),
    );
    return () => {
      wanted = false;
    };
  }, [actions]);

  if (failure !== null) return <Alert kind="error">{failure}</Alert>;
  if (recoveryKey === null) return <LoadingLine text={t('recovery.working')} />;
  if (step === 'done') {
    return (
      <div className={styles.step}>
        <Alert kind="success">{t('recovery.dialog.on')}</Alert>
        <div className={styles.actions}>
          <Button ref={focusOnMount} variant="primary" onClick={onDone}>
            {t('recovery.dialog.done')}
          </Button>
        </div>
      </div>
    );
  }
  if (step === 'confirm') {
    return (
      <ConfirmRecoveryKey
        recoveryKey={recoveryKey}
        onBack={() => setStep('show')}
        onConfirmed={() => setStep('done')}
      />
    );
  }
  return <ShownRecoveryKey recoveryKey={recoveryKey} replaces={replaces} onKept={() => setStep('confirm')} />;
}
