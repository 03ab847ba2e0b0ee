import type { ReactNode } from 'react';
import { OfflineNotice } from '../../features/session/OfflineNotice.tsx';
import { LogoMark } from '../../ui/Logo.tsx';
import { SitePage } from '../site/SitePage.tsx';
import styles from './AuthPage.module.css';

interface AuthPageProps {
  title: string;
  lead: string;
  /** A link to the other form. */
  other: ReactNode;
  /** A link for people who can't use this form. */
  help?: ReactNode;
  children: ReactNode;
}

/** The frame of the log-in and the sign-up form. */
export function AuthPage({ title, lead, other, help, children }: AuthPageProps) {
  return (
    <SitePage>
      <div className={styles.page}>
        <div className={styles.card}>
          <div className={styles.head}>
            <LogoMark className={styles.mark} />
            <h1 className={styles.title}>{title}</h1>
            <p className={styles.lead}>{lead}</p>
          </div>
          <OfflineNotice />
          {children}
          {help !== undefined && <p className={styles.other}>{help}</p>}
          <p className={styles.other}>{other}</p>
        </div>
      </div>
    </SitePage>
  );
}
