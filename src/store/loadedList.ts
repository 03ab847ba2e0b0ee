import { useAtomValue } from 'jotai';
import { requiredActionsAtom } from './actions.ts';
import { offlineAtom } from './connection.ts';

/** A list that loads once with an indicator and then refreshes quietly (spec section 4). */
export interface LoadedList<T> {
  /** Before the relay has answered: what this browser has kept of its last answer. */
  readonly items: readonly T[];
  readonly loading: boolean;
  /** True once the relay has answered in this session: only then is an empty list known to be empty. */
  readonly loaded: boolean;
  /** The sentence of the first load's failure; cleared on success. */
  readonly error: string | null;
}

export const unloadedList: LoadedList<never> = { items: [], loading: false, loaded: false, error: null };

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
