import type { ReactNode } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { SitePage } from '../site/SitePage.tsx';
import styles from './LegalPage.module.css';

interface LegalPageProps {
  title: string;
  lead: string;
  children: ReactNode;
}

/** A page to read. */
export function LegalPage({ title, lead, children }: LegalPageProps) {
  usePageTitle(title);
  return (
    <SitePage>
      <article className={styles.page}>
        <h1 className={styles.title}>{title}</h1>
        <p className={styles.lead}>{lead}</p>
        <div className={styles.body}>{children}</div>
      </article>
    </SitePage>
  );
}

export function LegalSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function LegalList({ items }: { items: readonly MessageId[] }) {
  return (
    <ul>
      {items.map((item) => (
        <li key={item}>{t(item)}</li>
      ))}
    </ul>
  );
}
