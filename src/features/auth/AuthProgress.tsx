import { useAtomValue } from 'jotai';
import { authProgressAtom } from '../../store/session.ts';
import styles from './AuthForm.module.css';
import { progressTexts } from './texts.ts';

/** What takes its time, said politely. */
export function AuthProgressLine() {
  const progress = useAtomValue(authProgressAtom);
  return <output className={styles.progress}>{progress !== null && progressTexts[progress]}</output>;
}
