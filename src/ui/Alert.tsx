import { clsx } from 'clsx';
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './Alert.module.css';

export type AlertKind = 'error' | 'warning' | 'success' | 'info';

export const alertIcons = {
  error: CircleAlert,
  warning: TriangleAlert,
  success: CircleCheck,
  info: Info,
} as const satisfies Record<AlertKind, unknown>;

interface AlertProps {
  kind: AlertKind;
  children: ReactNode;
  /** A button at its end. */
  action?: ReactNode;
}

/** A sentence in the page; errors are announced at once, the rest politely. */
export function Alert({ kind, children, action }: AlertProps) {
  const Icon = alertIcons[kind];
  return (
    <div
      className={clsx(styles.alert, styles[kind], action !== undefined && styles.withAction)}
      role={kind === 'error' ? 'alert' : 'status'}
    >
      <Icon className={styles.icon} aria-hidden="true" />
      <div className={styles.body}>
        <div className={styles.text}>{children}</div>
        {action}
      </div>
    </div>
  );
}
