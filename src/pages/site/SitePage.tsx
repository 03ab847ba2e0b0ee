import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { Logo } from '../../ui/Logo.tsx';
import { mainId, SkipLink } from '../../ui/SkipLink.tsx';
import styles from './Site.module.css';

export interface FooterLink {
  readonly to: string;
  readonly label: string;
}

const footerLinks: readonly FooterLink[] = [
  { to: paths.about, label: 'About' },
  { to: paths.contact, label: 'Contact' },
  { to: paths.privacyPolicy, label: 'Privacy Policy' },
  { to: paths.terms, label: 'Terms' },
];

interface SitePageProps {
  children: ReactNode;
  /** In place of the Log In and Sign Up buttons. */
  nav?: ReactNode;
  links?: readonly FooterLink[];
}

/** The frame of every page outside of the dashboard. */
export function SitePage({ children, nav, links = footerLinks }: SitePageProps) {
  return (
    <>
      <SkipLink />
      <header className={styles.header}>
        <div className={styles.bar}>
          <Link to={paths.landing} className={styles.home} aria-label="Sinetti, home">
            <Logo />
          </Link>
          <nav className={styles.nav} aria-label="Account">
            {nav ?? (
              <>
                <ButtonLink to={paths.login} variant="quiet">
                  Log In
                </ButtonLink>
                <ButtonLink to={paths.signUp} variant="primary">
                  Sign Up
                </ButtonLink>
              </>
            )}
          </nav>
        </div>
      </header>
      <main className={styles.main} id={mainId} tabIndex={-1}>
        {children}
      </main>
      <footer className={styles.footer}>
        <div className={styles.footerBar}>
          <p>Sinetti is Finnish for a seal.</p>
          <nav aria-label="About this site">
            <ul className={styles.links}>
              {links.map(({ to, label }) => (
                <li key={to}>
                  <Link to={to}>{label}</Link>
                </li>
              ))}
            </ul>
          </nav>
        </div>
      </footer>
    </>
  );
}
