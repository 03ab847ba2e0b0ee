import { t } from '../../i18n/i18n.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './LoadingGrid.module.css';

/** Three rows. */
const places = Array.from({ length: 24 }, (_, index) => index);

/** The shape of the emojis while they are loaded. */
export function LoadingGrid() {
  return (
    <div className={styles.loading}>
      <VisuallyHidden as="output">{t('emoji.loading')}</VisuallyHidden>
      {places.map((place) => (
        <span key={place} className={styles.placeholder} />
      ))}
    </div>
  );
}
