import { clsx } from 'clsx';
import { LockKeyhole, LockKeyholeOpen } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './SealFigure.module.css';

/** Made up, as long as a padded message of this length would be in part. */
const ciphertext =
  'AAEAAgAAABBkaXJlY3Q6N2Y0YTpiMjkxAAAAAAAAAAwBAEBAHM2vJx0dQhK8s1lq5uT9wYcR3nPzVfGm0eXbL7oAi4kWtD6yS2jNUZpFhC9gErOaQ8xMvI5BTl';

/** One message in the three places it passes. */
export function SealFigure() {
  return (
    <figure className={styles.figure}>
      <div className={styles.panel}>
        <p className={styles.place}>{t('landing.seal.yourBrowser')}</p>
        <p className={clsx(styles.bubble, styles.own)}>{t('landing.seal.sentence')}</p>
      </div>
      <span className={styles.link} aria-hidden="true">
        <LockKeyhole />
      </span>
      <div className={clsx(styles.panel, styles.relay)}>
        <p className={styles.place}>{t('landing.seal.server')}</p>
        <p className={styles.cipher} aria-hidden="true">
          {ciphertext}
        </p>
        <VisuallyHidden>{t('landing.seal.ciphertext')}</VisuallyHidden>
      </div>
      <span className={styles.link} aria-hidden="true">
        <LockKeyholeOpen />
      </span>
      <div className={styles.panel}>
        <p className={styles.place}>{t('landing.seal.theirBrowser')}</p>
        <p className={styles.bubble}>{t('landing.seal.sentence')}</p>
      </div>
      <figcaption className={styles.caption}>{t('landing.seal.caption')}</figcaption>
    </figure>
  );
}
