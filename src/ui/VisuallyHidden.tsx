import type { ReactNode } from 'react';
import styles from './VisuallyHidden.module.css';

interface VisuallyHiddenProps {
  as?: 'span' | 'h1' | 'h2';
  role?: 'status';
  children: ReactNode;
}

/** Text for screen readers only. */
export function VisuallyHidden({ as: Element = 'span', role, children }: VisuallyHiddenProps) {
  return (
    <Element role={role} className={styles.hidden}>
      {children}
    </Element>
  );
}
