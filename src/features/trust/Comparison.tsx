import { useAtomValue, useSetAtom } from 'jotai';
import { ScanLine } from 'lucide-react';
import { useCallback, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { SafetyNumbers } from '../../store/trust.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { longDay } from '../../ui/format.ts';
import { QrCode } from './QrCode.tsx';
import { canScan } from './readCodes.ts';
import styles from './SafetyNumberDialog.module.css';
import { ScanCode } from './ScanCode.tsx';
import { useTrust } from './useTrust.ts';

interface ComparisonProps {
  userId: string;
  name: string;
  numbers: SafetyNumbers;
  /** Called when the offered account key was accepted or refused. */
  onDecided: () => void;
}

/** The safety number, the ways to compare it, and the decision. */
export function Comparison({ userId, name, numbers, onDecided }: ComparisonProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const { verifiedAt } = useTrust(userId);
  const [scan, setScan] = useState<'none' | 'running' | 'matched'>('none');
  const [busy, setBusy] = useState(false);
  const { offered } = numbers;
  const number = offered ?? numbers.current;
  const matched = useCallback(() => setScan('matched'), []);

  async function during(action: () => Promise<void>, failure: string) {
    setBusy(true);
    const succeeded = await attempt(action, { failure });
    setBusy(false);
    return succeeded;
  }

  async function decide(decision: () => Promise<void>) {
    if (await during(decision, t('trust.decisionFailed'))) onDecided();
  }
  const accept = () => void decide(() => actions.acceptIdentity(userId, number));
  const refuse = () => void decide(() => actions.refuseIdentity(userId, number));

  const mark = (verified: boolean) =>
    void during(() => actions.setVerified(userId, number, verified), t('trust.markFailed'));

  return (
    <>
      {offered !== null && <Alert kind="warning">{t('safetyNumber.compare.new')}</Alert>}
      {scan === 'running' ? (
        <ScanCode name={name} expected={number} onMatch={matched} onStop={() => setScan('none')} />
      ) : (
        <div className={styles.compare}>
          <ol className={styles.number} aria-label={t('safetyNumber.compare.number')}>
            {number.match(/.{5}/g)?.map((group, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- two groups may be the same, and none moves
              <li key={index}>{group}</li>
            ))}
          </ol>
          <QrCode text={number} label={t('safetyNumber.qr')} />
        </div>
      )}
      {scan === 'matched' && <Alert kind="success">{t('safetyNumber.scan.matches')}</Alert>}
      {offered === null && verifiedAt !== null && (
        <Alert kind="success">
          <RichText id="safetyNumber.marked" parts={{ name: <bdi>{name}</bdi> }} />{' '}
          {t('safetyNumber.markedOn', { date: longDay(verifiedAt) })}
        </Alert>
      )}
      <div className={styles.actions}>
        {offered !== null && (
          <>
            <Button variant="primary" busy={busy} onClick={accept}>
              {t('safetyNumber.accept')}
            </Button>
            <Button disabled={busy} onClick={refuse}>
              {t('safetyNumber.keep')}
            </Button>
          </>
        )}
        {offered === null && verifiedAt === null && scan !== 'running' && (
          <Button variant="primary" busy={busy} onClick={() => mark(true)}>
            {t('safetyNumber.mark')}
          </Button>
        )}
        {offered === null && verifiedAt !== null && (
          <Button busy={busy} onClick={() => mark(false)}>
            {t('safetyNumber.unmark')}
          </Button>
        )}
        {scan !== 'running' && canScan() && (
          <Button variant="quiet" onClick={() => setScan('running')}>
            <ScanLine size={18} aria-hidden="true" />
            {t('safetyNumber.scan')}
          </Button>
        )}
      </div>
    </>
  );
}
