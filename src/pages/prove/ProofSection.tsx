import { type ReactNode, useId } from 'react';
import styles from './ProofSection.module.css';

interface ProofSectionProps {
  /** Its place on the page. */
  number: number;
  title: string;
  lead: string;
  /** Says how it is done. */
  note?: string;
  children: ReactNode;
}

/** One thing to try out. */
export function ProofSection({ children, lead, note, number, title }: ProofSectionProps) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.words}>
        <span className={styles.number} aria-hidden="true">
          {number}
        </span>
        <h2 className={styles.title} id={id}>
          {title}
        </h2>
        <p className={styles.lead}>{lead}</p>
        {note !== undefined && <p className={styles.note}>{note}</p>}
      </div>
      <div className={styles.body}>{children}</div>
    </section>
  );
}
