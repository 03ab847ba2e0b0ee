import { useAtomValue } from 'jotai';
import { requiredActionsAtom } from './actions.ts';
import { offlineAtom } from './connection.ts';
import type { LoadedList } from './loadedList.ts';

/** Returns what to say of a list that could not be loaded, and how to try again; null when there is nothing to say. */
export function useLoadFailure({ error, items, loading }: LoadedList<unknown>) {
  const actions = useAtomValue(requiredActionsAtom);
  const offline = useAtomValue(offlineAtom);
  const isOld = items.length > 0;
  // Offline the header says already why nothing is new.
  if (error === null || (isOld && offline)) return null;
  // A list that fails again says so in its place again.
  return {
    sentence: error,
    isOld,
    busy: loading,
    onRetry: () => void actions.retryLists().catch(() => undefined),
  };
}
