import { useAtomValue, useSetAtom } from 'jotai';
import { Copy, Download, Printer } from 'lucide-react';
import { useState } from 'react';
import { createPortal } from 'react-dom';
import { t } from '../../i18n/i18n.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button } from '../../ui/Button.tsx';
import { focusOnMount } from '../../ui/focus.ts';
import styles from './RecoveryKeyDialog.module.css';
import { downloadRecoveryKey, groupsOf, recoverySheet } from './recoveryKeyText.ts';

interface ShownRecoveryKeyProps {
  recoveryKey: string;
  /** True if it replaces another key. */
  replaces: boolean;
  onKept: () => void;
}

/** The key itself, with ways to keep it. */
export function ShownRecoveryKey({ recoveryKey, replaces, onKept }: ShownRecoveryKeyProps) {
  const user = useAtomValue(currentUserAtom);
  const attempt = useSetAtom(attemptAtom);
  const [now] = useState(() => new Date());
  if (user === null) return null;
  return (
    <div className={styles.step}>
      <p>{t('recovery.dialog.lead')}</p>
      {replaces && <Alert kind="info">{t('recovery.dialog.replaces')}</Alert>}
      <ol ref={focusOnMount} tabIndex={-1} className={styles.key} aria-label={t('recovery.dialog.title')}>
        {groupsOf(recoveryKey).map((group, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- the groups of one key never move
          <li key={index}>
            <code>{group}</code>
          </li>
        ))}
      </ol>
      <div className={styles.ways}>
        <Button
          onClick={() =>
            void attempt(() => navigator.clipboard.writeText(recoveryKey), {
              success: t('recovery.copied'),
              failure: t('recovery.copyFailed'),
            })
          }
        >
          <Copy size={18} aria-hidden="true" />
          {t('recovery.copy')}
        </Button>
        <Button
          onClick={() =>
            void attempt(() => downloadRecoveryKey(recoveryKey, user, now), {
              failure: t('recovery.copyFailed'),
            })
          }
        >
          <Download size={18} aria-hidden="true" />
          {t('recovery.download')}
        </Button>
        <Button onClick={() => window.print()}>
          <Printer size={18} aria-hidden="true" />
          {t('recovery.print')}
        </Button>
      </div>
      <div className={styles.actions}>
        <Button variant="primary" onClick={onKept}>
          {t('recovery.next')}
        </Button>
      </div>
      {createPortal(<PrintedSheet sheet={recoverySheet(recoveryKey, user, now)} />, document.body)}
    </div>
  );
}

/** The sheet that is printed; it is the only thing on the paper and not on the screen. */
function PrintedSheet({ sheet }: { sheet: ReturnType<typeof recoverySheet> }) {
  return (
    <section className={styles.sheet} aria-hidden="true">
      <h1>{sheet.title}</h1>
      <p>{sheet.account}</p>
      <p>{sheet.made}</p>
      <p>{sheet.keyLabel}</p>
      <p className={styles.printedKey}>{sheet.recoveryKey}</p>
      <p>{sheet.use}</p>
    </section>
  );
}
