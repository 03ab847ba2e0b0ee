import type { ReactNode } from 'react';
import styles from './Panes.module.css';

interface PanesProps {
  /** The parts that a phone shows. */
  narrow: 'list' | 'open' | 'both';
  list: ReactNode;
  /** The open item of the list, in one element. */
  children: ReactNode;
}

/** A list beside its open item. */
export function Panes({ narrow, list, children }: PanesProps) {
  return (
    <div className={styles.panes} data-narrow={narrow}>
      {list}
      {children}
    </div>
  );
}
