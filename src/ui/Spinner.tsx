import { t } from '../i18n/i18n.ts';
import { operator } from '../operator/index.ts';
import styles from './Spinner.module.css';
import { VisuallyHidden } from './VisuallyHidden.tsx';

/** The mark alone; say beside it what loads. */
export function Spinner() {
  return <span className={styles.spinner} aria-hidden="true" />;
}

/** The whole window waits. */
export function LoadingScreen() {
  return (
    <main className={styles.screen}>
      <VisuallyHidden as="h1">{operator.productName}</VisuallyHidden>
      <Spinner />
      <output>{t('app.loading')}</output>
    </main>
  );
}

/** A part of the screen waits. */
export function LoadingLine({ text }: { text: string }) {
  return (
    <output className={styles.line}>
      <Spinner />
      {text}
    </output>
  );
}
