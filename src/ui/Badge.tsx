import { clsx } from 'clsx';
import styles from './Badge.module.css';
import { VisuallyHidden } from './VisuallyHidden.tsx';

interface BadgeProps {
  count: number;
  /** Follows the number in speech, such as "unread messages". */
  meaning: string;
  /** Drawn so that it calls for nobody. */
  quiet?: boolean | undefined;
}

/** A count, capped at 99+; nothing for zero. */
export function Badge({ count, meaning, quiet }: BadgeProps) {
  if (count <= 0) return null;
  return (
    <span className={clsx(styles.badge, quiet && styles.quiet)}>
      {count > 99 ? '99+' : count}
      <VisuallyHidden> {meaning}</VisuallyHidden>
    </span>
  );
}
