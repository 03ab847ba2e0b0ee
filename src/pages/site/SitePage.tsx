import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { Logo } from '../../ui/Logo.tsx';
import { mainId, SkipLink } from '../../ui/SkipLink.tsx';
import styles from './Site.module.css';

export interface FooterLink {
  readonly to: string;
  readonly label: MessageId;
}

const footerLinks: readonly FooterLink[] = [
  { to: paths.about, label: 'site.about' },
  { to: paths.prove, label: 'site.prove' },
  { to: paths.contact, label: 'site.contact' },
  { to: paths.privacyPolicy, label: 'site.privacyPolicy' },
  { to: paths.terms, label: 'site.terms' },
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
          <Link
            to={paths.landing}
            className={styles.home}
            aria-label={t('site.home', { product: operator.productName })}
          >
            <Logo />
          </Link>
          <nav className={styles.nav} aria-label={t('site.account')}>
            {nav ?? (
              <>
                <ButtonLink to={paths.login} variant="quiet">
                  {t('site.logIn')}
                </ButtonLink>
                <ButtonLink to={paths.signUp} variant="primary">
                  {t('site.signUp')}
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
          <p>{t('site.tagline')}</p>
          <nav aria-label={t('site.aboutThisSite')}>
            <ul className={styles.links}>
              {links.map(({ to, label }) => (
                <li key={to}>
                  <Link to={to}>{t(label)}</Link>
                </li>
              ))}
            </ul>
          </nav>
        </div>
      </footer>
    </>
  );
}
