import { clsx } from 'clsx';
import styles from './Presence.module.css';

/** Filled when online, a ring when not: the difference isn't in the colour alone. */
export function PresenceDot({ online }: { online: boolean }) {
  return <span className={clsx(styles.dot, online && styles.online)} aria-hidden="true" />;
}

export function presenceText(online: boolean): string {
  return online ? 'Online' : 'Offline';
}
