import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { t } from '../i18n/i18n.ts';
import { RichText } from '../i18n/RichText.tsx';
import { failureReport } from '../lib/failureReport.ts';
import { operator } from '../operator/index.ts';
import { Button } from './Button.tsx';
import { Disclosure } from './Disclosure.tsx';
import styles from './FailureReport.module.css';

interface FailureReportProps {
  /** The part of the screen, in the words of the code. */
  part: string;
  error: unknown;
}

/** A report that a person can send to support. It is shown before it is copied. */
export function FailureReport({ part, error }: FailureReportProps) {
  const [copied, setCopied] = useState(false);
  const report = failureReport({ part, error, userAgent: navigator.userAgent });
  const { supportEmail } = operator;
  return (
    <div className={styles.report}>
      <Disclosure summary={t('app.failure.report')}>
        <p className={styles.hint}>
          {supportEmail === null ? (
            t('app.failure.reportHint')
          ) : (
            <RichText
              id="app.failure.reportHintTo"
              parts={{ address: <a href={`mailto:${supportEmail}`}>{supportEmail}</a> }}
            />
          )}
        </p>
        <pre className={styles.text} dir="ltr">
          {report}
        </pre>
        <Button
          size="small"
          onClick={() => {
            // A report that could not be copied can still be selected.
            navigator.clipboard.writeText(report).then(
              () => setCopied(true),
              () => undefined,
            );
          }}
        >
          {copied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
          {t(copied ? 'app.failure.copied' : 'app.failure.copy')}
        </Button>
      </Disclosure>
    </div>
  );
}
