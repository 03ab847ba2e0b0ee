import type { ReactNode, RefObject } from 'react';
import styles from './ListPane.module.css';

interface ListPaneProps {
  /** Its accessible name. */
  label: string;
  title: string;
  /** Beside the title. */
  action: ReactNode;
  /** Below the title; stays while the list scrolls. */
  tools?: ReactNode;
  /** What is amiss with the list. */
  notice?: ReactNode;
  /** A place for the focus that has lost its own. */
  titleRef: RefObject<HTMLHeadingElement | null>;
  /** What scrolls. */
  children: ReactNode;
}

/** A titled list of conversations. */
export function ListPane({ label, title, action, tools, notice, titleRef, children }: ListPaneProps) {
  return (
    <section className={styles.pane} aria-label={label}>
      <div className={styles.head}>
        <h2 className={styles.title} ref={titleRef} tabIndex={-1}>
          {title}
        </h2>
        {action}
      </div>
      {tools}
      {notice && <div className={styles.notice}>{notice}</div>}
      <div className={styles.list}>{children}</div>
    </section>
  );
}
