import { useAtomValue } from 'jotai';
import { authProgressAtom } from '../../store/session.ts';
import styles from './AuthForm.module.css';
import { progressTexts } from './texts.ts';

/** What takes its time, said politely. */
export function AuthProgressLine() {
  const progress = useAtomValue(authProgressAtom);
  return (
    <p className={styles.progress} role="status">
      {progress !== null && progressTexts[progress]}
    </p>
  );
}
