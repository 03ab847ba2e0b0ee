import styles from './Badge.module.css';
import { VisuallyHidden } from './VisuallyHidden.tsx';

/** A count, capped at 99+; nothing for zero. `meaning` follows the number in speech, such as "unread messages". */
export function Badge({ count, meaning }: { count: number; meaning: string }) {
  if (count <= 0) return null;
  return (
    <span className={styles.badge}>
      {count > 99 ? '99+' : count}
      <VisuallyHidden> {meaning}</VisuallyHidden>
    </span>
  );
}
