import { LockKeyhole } from 'lucide-react';
import { useId } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { PlayEntry } from '../../store/proof.ts';
import { playerNames } from './PlayScreen.tsx';
import styles from './PlaySection.module.css';

/** All that the relay of the play has: sealed bytes, and who has sent them. */
export function RelayLog({ log }: { log: readonly PlayEntry[] }) {
  const id = useId();
  return (
    <section className={styles.relay} aria-labelledby={id}>
      <h3 className={styles.heading} id={id}>
        {t('prove.play.server')}
      </h3>
      <ol className={styles.log}>
        {log.map(({ end, from, kind, length, seq }) => (
          <li key={seq} className={styles.entry}>
            <LockKeyhole className={styles.lock} aria-hidden="true" />
            <div className={styles.words}>
              <p>
                {t('prove.play.from', { name: from === 'relay' ? t('prove.play.you') : playerNames[from] })}
              </p>
              <p>{t(`prove.play.entry.${kind}`, { length })}</p>
              <p className={styles.bytes}>
                <bdi>…{end}</bdi>
              </p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
