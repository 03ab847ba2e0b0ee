import { clsx } from 'clsx';
import { type ReactNode, useId } from 'react';
import styles from './Card.module.css';

interface CardProps {
  title: string;
  /** Beside the title; decoration only. */
  icon?: ReactNode;
  description?: ReactNode;
  /** `danger` for actions that can't be undone. */
  tone?: 'plain' | 'danger';
  /** The target of links in the page. */
  id?: string;
  children?: ReactNode;
}

/** A section of a page of settings: a heading, and {@link CardRow}s or {@link CardBody}s below it. */
export function Card({ title, icon, description, tone = 'plain', id, children }: CardProps) {
  const titleId = useId();
  return (
    <section
      className={clsx(styles.card, tone === 'danger' && styles.danger)}
      aria-labelledby={titleId}
      id={id}
    >
      <header className={styles.header}>
        {icon !== undefined && (
          <span className={styles.icon} aria-hidden="true">
            {icon}
          </span>
        )}
        <div className={styles.words}>
          <h2 className={styles.title} id={titleId}>
            {title}
          </h2>
          {description !== undefined && <p className={styles.description}>{description}</p>}
        </div>
      </header>
      {children}
    </section>
  );
}

interface CardRowProps {
  title: ReactNode;
  description?: ReactNode;
  /** At the end of the row, or below the words where there is no room beside them. */
  control?: ReactNode;
  /** Below both. */
  children?: ReactNode;
}

/** One item of a card: its title, its description and its control. */
export function CardRow({ title, description, control, children }: CardRowProps) {
  return (
    <div className={styles.part}>
      <div className={styles.row}>
        <div className={styles.words}>
          <p className={styles.name}>{title}</p>
          {description !== undefined && <p className={styles.description}>{description}</p>}
        </div>
        {control !== undefined && <div className={styles.control}>{control}</div>}
      </div>
      {children}
    </div>
  );
}

/** Anything else inside a card. */
export function CardBody({ children }: { children: ReactNode }) {
  return <div className={styles.part}>{children}</div>;
}
