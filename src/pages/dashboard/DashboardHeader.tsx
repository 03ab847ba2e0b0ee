import { useAtomValue } from 'jotai';
import { ConnectionStatus } from '../../features/session/ConnectionStatus.tsx';
import { LogoutControl } from '../../features/session/LogoutControl.tsx';
import { displayName } from '../../lib/people.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { Logo } from '../../ui/Logo.tsx';
import styles from './DashboardPage.module.css';

export function DashboardHeader() {
  const user = useAtomValue(currentUserAtom);
  return (
    <div className={styles.bar}>
      <Logo />
      <span className={styles.space} />
      <div className={styles.connection}>
        <ConnectionStatus />
      </div>
      {user !== null && (
        <div className={styles.user}>
          <Avatar name={displayName(user)} size={30} />
          <bdi>{displayName(user)}</bdi>
        </div>
      )}
      <LogoutControl />
    </div>
  );
}
