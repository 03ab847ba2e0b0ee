import { useAtomValue } from 'jotai';
import { groupProgressAtom } from '../../store/groups.ts';
import styles from './GroupList.module.css';
import { progressTexts } from './texts.ts';

/** What is going on while a group is made or somebody is added. */
export function GroupProgressLine({ shown }: { shown: boolean }) {
  const progress = useAtomValue(groupProgressAtom);
  return <output className={styles.progress}>{shown && progress !== null && progressTexts[progress]}</output>;
}
