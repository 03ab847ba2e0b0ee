import { TriangleAlert } from 'lucide-react';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import styles from './RouteFailure.module.css';

/** A page that could not be drawn: usually a chunk of an older version, which a reload replaces. */
export function RouteFailure() {
  return (
    <main className={styles.failure}>
      <h1 className={styles.title}>This page could not be shown</h1>
      <EmptyState
        icon={<TriangleAlert />}
        action={
          <Button variant="primary" onClick={() => window.location.reload()}>
            Reload
          </Button>
        }
      >
        The application may have been updated since you opened it. Your messages are not affected.
      </EmptyState>
    </main>
  );
}
