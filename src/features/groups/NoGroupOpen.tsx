import { UsersRound } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import styles from './NoGroupOpen.module.css';

interface NoGroupOpenProps {
  /** True if there is no group to select. */
  first: boolean;
  /** False while the groups still load, so that `first` may yet change. */
  known: boolean;
  /** Absent while the form for it is there already. */
  onCreate: (() => void) | undefined;
}

/** Stands where a group's messages will be. */
export function NoGroupOpen({ first, known, onCreate }: NoGroupOpenProps) {
  return (
    <div className={styles.welcome}>
      <EmptyState
        icon={<UsersRound />}
        title={t('groups.welcome')}
        action={
          first &&
          known &&
          onCreate !== undefined && (
            <Button variant="primary" onClick={onCreate}>
              {t('groups.createFirst')}
            </Button>
          )
        }
      >
        {first ? t('groups.welcomeFirstHint') : t('groups.welcomeHint')}
      </EmptyState>
    </div>
  );
}
