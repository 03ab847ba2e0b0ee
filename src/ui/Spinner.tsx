import styles from './Spinner.module.css';
import { VisuallyHidden } from './VisuallyHidden.tsx';

/** The mark alone; say what is awaited beside it. */
export function Spinner() {
  return <span className={styles.spinner} aria-hidden="true" />;
}

/** The whole window waits. */
export function LoadingScreen({ text = 'Loading...' }: { text?: string }) {
  return (
    <main className={styles.screen}>
      <VisuallyHidden as="h1">Sinetti</VisuallyHidden>
      <Spinner />
      <output>{text}</output>
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
