import type { ReactNode } from 'react';
import styles from './EmptyState.module.css';

interface EmptyStateProps {
  icon: ReactNode;
  title?: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}

/** A placeholder where content will be. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <span className={styles.icon} aria-hidden="true">
        {icon}
      </span>
      {title !== undefined && <p className={styles.title}>{title}</p>}
      {children !== undefined && <p>{children}</p>}
      {action !== undefined && <div className={styles.action}>{action}</div>}
    </div>
  );
}
