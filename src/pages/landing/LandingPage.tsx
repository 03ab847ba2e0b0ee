import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router-dom';
import { paths } from '../../lib/paths.ts';
import { Alert } from '../../ui/Alert.tsx';
import { ButtonLink, buttonClass, IconButton } from '../../ui/Button.tsx';
import { LogoMark } from '../../ui/Logo.tsx';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { SitePage } from '../site/SitePage.tsx';
import { badges, features } from './features.ts';
import styles from './LandingPage.module.css';
import { SealFigure } from './SealFigure.tsx';
import { benefits, deletedBannerDuration, landingTexts } from './texts.ts';

export function LandingPage() {
  usePageTitle();
  return (
    <SitePage>
      <DeletedBanner />
      <section className={styles.hero} aria-labelledby="hero">
        <div>
          <h1 className={styles.heroTitle} id="hero">
            {landingTexts.title}
          </h1>
          <p className={styles.lead}>{landingTexts.lead}</p>
          <div className={styles.actions}>
            <ButtonLink to={paths.signUp} variant="primary" size="large">
              {landingTexts.getStarted}
            </ButtonLink>
            <a href="#features" className={buttonClass({ size: 'large' })}>
              {landingTexts.learnMore}
            </a>
          </div>
        </div>
        <SealFigure />
      </section>

      <div className={styles.ruled}>
        <section className={styles.section} id="features" aria-labelledby="features-title">
          <h2 className={styles.title} id="features-title">
            {landingTexts.featuresTitle}
          </h2>
          <ul className={styles.cards}>
            {features.map(({ icon: Icon, title, text }) => (
              <li key={title} className={styles.card}>
                <Icon aria-hidden="true" />
                <h3 className={styles.cardTitle}>{title}</h3>
                <p className={styles.cardText}>{text}</p>
              </li>
            ))}
          </ul>
        </section>
      </div>

      <div className={styles.ruled}>
        <section className={`${styles.section} ${styles.benefits}`} aria-labelledby="benefits-title">
          <h2 className={styles.title} id="benefits-title">
            {landingTexts.benefitsTitle}
          </h2>
          <ul className={styles.benefitList}>
            {benefits.map(({ title, text }) => (
              <li key={title} className={styles.benefit}>
                <h3>{title}</h3>
                <p>{text}</p>
              </li>
            ))}
          </ul>
        </section>
      </div>

      <div className={styles.ruled}>
        <section className={styles.section} aria-labelledby="badges-title">
          <h2 className={styles.title} id="badges-title">
            {landingTexts.badgesTitle}
          </h2>
          <ul className={styles.badges}>
            {badges.map(({ title, text }) => (
              <li key={title} className={styles.badge}>
                <p className={styles.badgeTitle}>{title}</p>
                <p className={styles.badgeText}>{text}</p>
              </li>
            ))}
          </ul>
        </section>
      </div>

      <section className={styles.call} aria-labelledby="call-title">
        <LogoMark className={styles.callMark} />
        <h2 id="call-title">{landingTexts.callTitle}</h2>
        <p>{landingTexts.callText}</p>
        <ButtonLink to={paths.signUp} variant="primary" size="large">
          {landingTexts.callAction}
        </ButtonLink>
      </section>
    </SitePage>
  );
}

/** After an account was deleted: said once, for a few seconds, and gone from the address at once. */
function DeletedBanner() {
  const [parameters] = useSearchParams();
  const navigate = useNavigate();
  const [shown, setShown] = useState(parameters.get('deleted') === 'true');

  useEffect(() => {
    if (!shown) return undefined;
    void navigate(paths.landing, { replace: true });
    const timer = setTimeout(() => setShown(false), deletedBannerDuration);
    return () => clearTimeout(timer);
  }, [shown, navigate]);

  if (!shown) return null;
  return (
    <div className={styles.banner}>
      <Alert
        kind="success"
        action={
          <IconButton
            size="small"
            label={landingTexts.dismiss}
            icon={<X />}
            onClick={() => setShown(false)}
          />
        }
      >
        {landingTexts.deleted}
      </Alert>
    </div>
  );
}
