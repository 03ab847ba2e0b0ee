import { UsersRound } from 'lucide-react';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import styles from './GroupsTab.module.css';
import { groupTexts } from './texts.ts';

interface WelcomeProps {
  /** There are no groups yet. */
  first: boolean;
  /** Absent while the form for it is there already. */
  onCreate: (() => void) | undefined;
}

/** Stands where a group's messages will be. */
export function Welcome({ first, onCreate }: WelcomeProps) {
  return (
    <div className={styles.welcome}>
      <EmptyState
        icon={<UsersRound />}
        title={groupTexts.welcome}
        action={
          first &&
          onCreate !== undefined && (
            <Button variant="primary" onClick={onCreate}>
              {groupTexts.createFirst}
            </Button>
          )
        }
      >
        {first ? groupTexts.welcomeFirstHint : groupTexts.welcomeHint}
      </EmptyState>
    </div>
  );
}
