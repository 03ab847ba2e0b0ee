import type { ReactNode } from 'react';
import styles from './ListPane.module.css';

interface ListPaneProps {
  /** Its accessible name. */
  label: string;
  title: string;
  /** Beside the title. */
  action: ReactNode;
  /** Below the title; stays while the list scrolls. */
  tools?: ReactNode;
  /** What scrolls. */
  children: ReactNode;
}

/** A titled list of conversations. */
export function ListPane({ label, title, action, tools, children }: ListPaneProps) {
  return (
    <section className={styles.pane} aria-label={label}>
      <div className={styles.head}>
        <h2 className={styles.title}>{title}</h2>
        {action}
      </div>
      {tools}
      <div className={styles.list}>{children}</div>
    </section>
  );
}
