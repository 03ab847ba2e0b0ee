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
  /** Says that the list is missing or old. */
  notice?: ReactNode;
  /** Gets the focus when the focused element is gone. */
  titleRef: RefObject<HTMLHeadingElement | null>;
  /** The scrolling part. */
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
