import { useAtomValue } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { type GroupProgress, groupProgressAtom } from '../../store/groups.ts';
import styles from './GroupProgressLine.module.css';

/** The present step while a group is created or people are added. */
export function GroupProgressLine({ shown }: { shown: boolean }) {
  const progress = useAtomValue(groupProgressAtom);
  return <output className={styles.progress}>{shown && progress !== null && progressText(progress)}</output>;
}

function progressText(progress: GroupProgress): string {
  if (!('done' in progress)) return t(`groups.progress.${progress.step}`);
  const { done, step, total } = progress;
  return t(step === 'adding' ? 'groups.progress.adding' : 'groups.progress.gathering', { done, total });
}
