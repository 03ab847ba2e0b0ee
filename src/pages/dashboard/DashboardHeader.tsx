import { useAtomValue } from 'jotai';
import { NotificationBell } from '../../features/notifications/NotificationBell.tsx';
import { ConnectionStatus } from '../../features/session/ConnectionStatus.tsx';
import { LogoutControl } from '../../features/session/LogoutControl.tsx';
import { displayName } from '../../store/people.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { Logo } from '../../ui/Logo.tsx';
import styles from './DashboardPage.module.css';

interface DashboardHeaderProps {
  onOpenChat: (userId: string) => void;
  onOpenContacts: () => void;
}

export function DashboardHeader({ onOpenChat, onOpenContacts }: DashboardHeaderProps) {
  const user = useAtomValue(currentUserAtom);
  return (
    <div className={styles.bar}>
      <span className={styles.brand}>
        <Logo />
      </span>
      <span className={styles.space} />
      <div className={styles.connection}>
        <ConnectionStatus />
      </div>
      <div className={styles.bell}>
        <NotificationBell onOpenChat={onOpenChat} onOpenContacts={onOpenContacts} />
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
