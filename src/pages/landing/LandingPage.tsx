import type { ReactNode } from 'react';
import { t } from '../../i18n/i18n.ts';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import { ButtonLink, buttonClass } from '../../ui/Button.tsx';
import { LogoMark } from '../../ui/Logo.tsx';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { SitePage } from '../site/SitePage.tsx';
import { DeletedBanner } from './DeletedBanner.tsx';
import { badges, benefits, features, steps } from './features.ts';
import styles from './LandingPage.module.css';
import { ProductPictures } from './ProductPictures.tsx';
import { SealFigure } from './SealFigure.tsx';

export function LandingPage() {
  usePageTitle();
  return (
    <SitePage>
      <DeletedBanner />
      <section className={styles.hero} aria-labelledby="hero">
        <h1 className={styles.heroTitle} id="hero">
          {t('landing.title')}
        </h1>
        <p className={styles.lead}>{t('landing.lead', { product: operator.productName })}</p>
        <div className={styles.actions}>
          <ButtonLink to={paths.signUp} variant="primary" size="large">
            {t('landing.getStarted')}
          </ButtonLink>
          <a href="#features" className={buttonClass({ size: 'large' })}>
            {t('landing.learnMore')}
          </a>
        </div>
        <ProductPictures />
      </section>

      <Section id="features" title={t('landing.features.title')}>
        <ul className={styles.cards}>
          {features.map(({ icon: Icon, title, text }) => (
            <li key={title} className={styles.card}>
              <Icon aria-hidden="true" />
              <h3 className={styles.cardTitle}>{t(title)}</h3>
              <p className={styles.cardText}>{t(text)}</p>
            </li>
          ))}
        </ul>
      </Section>

      <Section id="how" title={t('landing.how.title')}>
        <div className={styles.how}>
          <ol className={styles.steps}>
            {steps.map(({ title, text }) => (
              <li key={title} className={styles.step}>
                <h3>{t(title)}</h3>
                <p>{t(text)}</p>
              </li>
            ))}
          </ol>
          <SealFigure />
        </div>
      </Section>

      <Section id="benefits" title={t('landing.benefits.title')} beside>
        <ul className={styles.benefits}>
          {benefits.map(({ title, text }) => (
            <li key={title} className={styles.benefit}>
              <h3>{t(title)}</h3>
              <p>{t(text)}</p>
            </li>
          ))}
        </ul>
      </Section>

      <Section id="badges" title={t('landing.badges.title')}>
        <ul className={styles.badges}>
          {badges.map(({ name, text }) => (
            <TrustBadge key={name} name={name} text={t(text)} />
          ))}
          {operator.certificates.map(({ name, issuer }) => (
            <TrustBadge key={name} name={name} text={t('landing.badges.issuedBy', { issuer })} />
          ))}
        </ul>
      </Section>

      <section className={styles.call} aria-labelledby="call-title">
        <LogoMark className={styles.callMark} />
        <h2 id="call-title">{t('landing.call.title')}</h2>
        <p>{t('landing.call.text')}</p>
        <ButtonLink to={paths.signUp} variant="primary" size="large">
          {t('landing.call.action')}
        </ButtonLink>
      </section>
    </SitePage>
  );
}

interface SectionProps {
  id: string;
  title: string;
  /** Puts the title beside the content if there is room. */
  beside?: boolean;
  children: ReactNode;
}

function Section({ id, title, beside = false, children }: SectionProps) {
  return (
    <div className={styles.ruled}>
      <section
        className={beside ? `${styles.section} ${styles.beside}` : styles.section}
        id={id}
        aria-labelledby={`${id}-title`}
      >
        <h2 className={styles.title} id={`${id}-title`}>
          {title}
        </h2>
        {children}
      </section>
    </div>
  );
}

function TrustBadge({ name, text }: { name: string; text: string }) {
  return (
    <li className={styles.badge}>
      <p className={styles.badgeTitle}>{name}</p>
      <p className={styles.badgeText}>{text}</p>
    </li>
  );
}
