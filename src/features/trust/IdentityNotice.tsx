import { useAtomValue, useSetAtom } from 'jotai';
import { ShieldAlert } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { otherNamesAtom } from '../../store/names.ts';
import { Button } from '../../ui/Button.tsx';
import styles from './IdentityNotice.module.css';
import { SafetyNumber } from './SafetyNumber.tsx';
import { useTrust } from './useTrust.ts';

export interface IdentityNoticeProps {
  readonly userId: string;
  readonly name: string;
}

/** Says above a chat that the other person's account key has changed: messages wait until that is decided. */
export function IdentityNotice({ userId, name }: IdentityNoticeProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const { keyOffered } = useTrust(userId);
  const otherName = useAtomValue(otherNamesAtom).get(userId);
  const [comparing, setComparing] = useState(false);
  const [busy, setBusy] = useState(false);
  const who = <bdi>{name}</bdi>;

  async function accept() {
    setBusy(true);
    await attempt(
      async () => {
        const { offered } = await actions.loadSafetyNumbers(userId);
        if (offered !== null) await actions.acceptIdentity(userId, offered);
      },
      { failure: t('trust.decisionFailed') },
    );
    setBusy(false);
  }

  return (
    <>
      {keyOffered && (
        <section className={styles.notice} role="alert">
          <ShieldAlert className={styles.icon} aria-hidden="true" />
          <div className={styles.words}>
            <p className={styles.title}>
              <RichText id="safetyNumber.change.title" parts={{ name: who }} />
            </p>
            <p>
              <RichText id="safetyNumber.change.text" parts={{ name: who }} />
            </p>
            <div className={styles.actions}>
              <Button
                size="small"
                variant="primary"
                aria-haspopup="dialog"
                onClick={() => setComparing(true)}
              >
                {t('safetyNumber.change.compare')}
              </Button>
              <Button size="small" busy={busy} onClick={() => void accept()}>
                {t('safetyNumber.accept')}
              </Button>
            </div>
          </div>
        </section>
      )}
      {otherName !== undefined && (
        <output className={styles.line}>
          <RichText
            id="safetyNumber.otherName"
            parts={{ name: who, other: <bdi>{visibleName(otherName)}</bdi> }}
          />
        </output>
      )}
      {/* The dialog stays outside of the notice: it is still open when the decision has been made in it. */}
      <SafetyNumber userId={userId} name={name} open={comparing} onOpenChange={setComparing} />
    </>
  );
}
