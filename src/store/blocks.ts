import { useAtomValue } from 'jotai';
import { useEffect } from 'react';
import { requiredActionsAtom } from './actions.ts';
import { sessionAtom } from './sessionAtom.ts';

export interface BlockedPerson {
  readonly id: string;
  readonly username: string;
  /** RFC 3339. */
  readonly created_at: string;
}

/** The people whom the person has blocked, by name; null before they have been loaded. */
export const blocksAtom = sessionAtom<readonly BlockedPerson[] | null>(null);

/** Asks for the blocked people as a part appears, since another browser may have changed them. A failure changes nothing. */
export function useBlocks(): readonly BlockedPerson[] | null {
  const actions = useAtomValue(requiredActionsAtom);
  useEffect(() => void actions.updateBlocks().catch(() => undefined), [actions]);
  return useAtomValue(blocksAtom);
}
