import type { ReactNode } from 'react';
import styles from './Panes.module.css';

interface PanesProps {
  /** What a phone has room for. */
  narrow: 'list' | 'open' | 'both';
  list: ReactNode;
  /** What is open of the list, in one element. */
  children: ReactNode;
}

/** A list beside what is open of it. */
export function Panes({ narrow, list, children }: PanesProps) {
  return (
    <div className={styles.panes} data-narrow={narrow}>
      {list}
      {children}
    </div>
  );
}
