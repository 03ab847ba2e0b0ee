import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import styles from './Banner.module.css';

interface BannerProps {
  tone: 'accent' | 'warning';
  /** Names it as a part of the page. */
  label: string;
  icon: ReactNode;
  children: ReactNode;
  /** Beside the text, or below it where there is no room. */
  actions: ReactNode;
}

/** Something that waits for a decision, above the page. */
export function Banner({ tone, label, icon, children, actions }: BannerProps) {
  return (
    <section className={clsx(styles.banner, styles[tone])} aria-label={label}>
      <span className={styles.icon} aria-hidden="true">
        {icon}
      </span>
      <p className={styles.text}>{children}</p>
      <div className={styles.actions}>{actions}</div>
    </section>
  );
}
