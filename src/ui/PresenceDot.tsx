import { clsx } from 'clsx';
import styles from './PresenceDot.module.css';

/** Filled when online, a ring when not: the difference isn't in the colour alone. */
export function PresenceDot({ online }: { online: boolean }) {
  return <span className={clsx(styles.dot, online && styles.online)} aria-hidden="true" />;
}
