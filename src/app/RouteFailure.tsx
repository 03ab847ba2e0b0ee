import { TriangleAlert } from 'lucide-react';
import { t } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureReport } from '../ui/FailureReport.tsx';
import styles from './RouteFailure.module.css';

/** A page that could not be drawn: usually a chunk of an older version, which a reload replaces. */
export function RouteFailure({ error }: { error: unknown }) {
  return (
    <main className={styles.failure}>
      <h1 className={styles.title}>{t('app.pageFailure.title')}</h1>
      <EmptyState
        icon={<TriangleAlert />}
        action={
          <Button variant="primary" onClick={() => window.location.reload()}>
            {t('app.pageFailure.reload')}
          </Button>
        }
      >
        {t('app.pageFailure.text')}
      </EmptyState>
      <FailureReport part="page" error={error} />
    </main>
  );
}
