import { useAtomValue } from 'jotai';
import { TriangleAlert } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { isCancelled } from '../../lib/appError.ts';
import { errorText } from '../../lib/errorText.ts';
import { type DeletionProgress, deletionProgressAtom } from '../../store/account.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card, CardBody } from '../../ui/Card.tsx';
import styles from './DeleteAccountCard.module.css';

/** Spec section 4: idle, confirm, deleting; then the landing page says that it is done. */
type Step = 'idle' | 'confirm' | 'deleting';

export function DeleteAccountCard({ id }: { id?: string }) {
  const [chosen, setStep] = useState<Step>('idle');
  // The deletion goes on while another tab of the dashboard is open.
  const isUnderWay = useAtomValue(deletionProgressAtom) !== null;
  const step = isUnderWay ? 'deleting' : chosen;
  const begin = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);

  // The focus goes back to the button that asked, when the person cancels.
  useEffect(() => {
    if (step === 'idle' && wasAsking.current) begin.current?.focus();
    wasAsking.current = step !== 'idle';
  }, [step]);

  return (
    <Card
      title={t('profile.danger.title')}
      icon={<TriangleAlert />}
      description={t('profile.danger.body')}
      tone="danger"
      {...(id !== undefined && { id })}
    >
      <CardBody>
        {step === 'idle' ? (
          <div>
            <Button ref={begin} onClick={() => setStep('confirm')}>
              {t('profile.danger.delete')}
            </Button>
          </div>
        ) : (
          <Confirmation deleting={step === 'deleting'} onStep={setStep} />
        )}
      </CardBody>
    </Card>
  );
}

function Confirmation({ deleting, onStep }: { deleting: boolean; onStep: (step: Step) => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const progress = useAtomValue(deletionProgressAtom);
  const [failure, setFailure] = useState<string | null>(null);
  const question = useRef<HTMLHeadingElement>(null);
  const questionId = useId();
  const startedHere = useRef(!deleting);
  useEffect(() => {
    if (startedHere.current) question.current?.focus();
  }, []);

  async function deleteAccount() {
    setFailure(null);
    onStep('deleting');
    try {
      await actions.deleteAccount();
    } catch (error) {
      if (!isCancelled(error)) setFailure(errorText(error, t('errors.deleteAccountFailed')));
      onStep('confirm');
    }
  }

  return (
    <section className={styles.confirmation} aria-labelledby={questionId}>
      <h3 className={styles.question} id={questionId} ref={question} tabIndex={-1}>
        {t('profile.danger.question')}
      </h3>
      <ul className={styles.points}>
        <li>{t('profile.danger.pointGroups')}</li>
        <li>{t('profile.danger.pointBrowsers')}</li>
        <li>{t('profile.danger.pointCopies')}</li>
        <li>{t('profile.danger.pointTime')}</li>
        <li>{t('profile.danger.pointExport')}</li>
      </ul>
      {failure !== null && <Alert kind="error">{failure}</Alert>}
      <div className={styles.actions}>
        <Button variant="danger" busy={deleting} onClick={() => void deleteAccount()}>
          {deleting ? t('profile.danger.deleting') : t('profile.danger.confirm')}
        </Button>
        <Button disabled={deleting} onClick={() => onStep('idle')}>
          {t('profile.cancel')}
        </Button>
        <output className={styles.progress}>{progressText(progress)}</output>
      </div>
    </section>
  );
}

function progressText(progress: DeletionProgress | null): string {
  if (progress?.step !== 'groups' || progress.total === 0) return '';
  return t('profile.danger.groupsProgress', { done: progress.done, total: progress.total });
}
