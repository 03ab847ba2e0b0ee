import { clsx } from 'clsx';
import { t } from '../i18n/i18n.ts';
import styles from './Presence.module.css';

/** Filled when online, a ring when not: the difference isn't in the colour alone. */
export function PresenceDot({ online }: { online: boolean }) {
  return <span className={clsx(styles.dot, online && styles.online)} aria-hidden="true" />;
}

/** Returns the text of a presence; empty while it isn't known, so keep the text's place. */
export function presenceText(online: boolean | undefined): string {
  if (online === undefined) return '';
  return t(online ? 'chat.online' : 'chat.offline');
}
