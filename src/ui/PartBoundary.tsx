import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { t } from '../i18n/i18n.ts';
import { Button } from './Button.tsx';
import { EmptyState } from './EmptyState.tsx';
import { FailureReport } from './FailureReport.tsx';
import styles from './PartBoundary.module.css';

interface PartBoundaryProps {
  /** The name of the part in a report of its failure: a word of the code, and never a person's. */
  part: string;
  /** Id of the shown content: a different one is drawn anew after a failure. */
  shows?: string | null;
  children: ReactNode;
}

/** Error boundary of one part of the screen: the rest goes on, and the person can try this part again. */
export function PartBoundary({ part, shows = null, children }: PartBoundaryProps) {
  return (
    <ErrorBoundary resetKeys={[shows]} fallbackRender={failureOf(part)}>
      {children}
    </ErrorBoundary>
  );
}

function failureOf(part: string) {
  return ({ error, resetErrorBoundary }: FallbackProps) => (
    <div className={styles.failure} role="alert">
      <EmptyState
        icon={<TriangleAlert />}
        title={t('app.failure.title')}
        action={<Button onClick={() => resetErrorBoundary()}>{t('app.tryAgain')}</Button>}
      >
        {t('app.failure.text')}
      </EmptyState>
      <FailureReport part={part} error={error} />
    </div>
  );
}
