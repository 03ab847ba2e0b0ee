import { useAtomValue } from 'jotai';
import { displayName } from '../../lib/people.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import styles from './ProfileTab.module.css';

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' });

export function ProfileTab() {
  const user = useAtomValue(currentUserAtom);
  if (user === null) return null;
  const createdAt = new Date(user.created_at);
  return (
    <div className={styles.profile}>
      <div className={styles.card}>
        <div className={styles.person}>
          <Avatar name={displayName(user)} size={56} />
          <h2 className={styles.name}>
            <bdi>{displayName(user)}</bdi>
          </h2>
        </div>
        <dl>
          <div className={styles.row}>
            <dt>Username</dt>
            <dd>
              <bdi>{user.username}</bdi>
            </dd>
          </div>
          <div className={styles.row}>
            <dt>Email</dt>
            <dd>
              <bdi>{user.email}</bdi>
            </dd>
          </div>
          {!Number.isNaN(createdAt.getTime()) && (
            <div className={styles.row}>
              <dt>Member since</dt>
              <dd>{dateFormat.format(createdAt)}</dd>
            </div>
          )}
        </dl>
      </div>
    </div>
  );
}
