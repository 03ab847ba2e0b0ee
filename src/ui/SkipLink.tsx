import { t } from '../i18n/i18n.ts';
import styles from './SkipLink.module.css';

/** The id of each page's main element. */
export const mainId = 'main';

export function SkipLink() {
  return (
    <a
      className={styles.skip}
      href={`#${mainId}`}
      onClick={(event) => {
        event.preventDefault();
        document.getElementById(mainId)?.focus();
      }}
    >
      {t('app.skipToContent')}
    </a>
  );
}
