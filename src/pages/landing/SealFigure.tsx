import { clsx } from 'clsx';
import { LockKeyhole, LockKeyholeOpen } from 'lucide-react';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './SealFigure.module.css';

const sentence = 'Sauna at seven? I will bring the cloudberries.';

/** Made up, as long as a padded message of this length would be in part. */
const ciphertext =
  'AAEAAgAAABBkaXJlY3Q6N2Y0YTpiMjkxAAAAAAAAAAwBAEBAHM2vJx0dQhK8s1lq5uT9wYcR3nPzVfGm0eXbL7oAi4kWtD6yS2jNUZpFhC9gErOaQ8xMvI5BTl';

/** One message in the three places it passes. */
export function SealFigure() {
  return (
    <figure className={styles.figure}>
      <div className={styles.panel}>
        <p className={styles.place}>Your browser</p>
        <p className={clsx(styles.bubble, styles.own)}>{sentence}</p>
      </div>
      <span className={styles.link} aria-hidden="true">
        <LockKeyhole />
      </span>
      <div className={clsx(styles.panel, styles.relay)}>
        <p className={styles.place}>The relay</p>
        <p className={styles.cipher} aria-hidden="true">
          {ciphertext}
        </p>
        <VisuallyHidden>Ciphertext that it cannot read</VisuallyHidden>
      </div>
      <span className={styles.link} aria-hidden="true">
        <LockKeyholeOpen />
      </span>
      <div className={styles.panel}>
        <p className={styles.place}>Their browser</p>
        <p className={styles.bubble}>{sentence}</p>
      </div>
      <figcaption className={styles.caption}>One message, in the three places it passes.</figcaption>
    </figure>
  );
}
