import { useAtomValue } from 'jotai';
import type { RefObject } from 'react';
import { groupInvitationsAtom } from '../../store/groupInvitations.ts';
import { onDemand } from '../../ui/onDemand.tsx';

interface FocusAfter {
  /** Gets the focus when the last question is gone with its buttons. */
  focusAfter: RefObject<HTMLElement | null>;
}

const GroupInvitations = onDemand<FocusAfter & { open: boolean }>(
  async () => (await import('./GroupInvitations.tsx')).GroupInvitations,
);

/** Stands above the groups while somebody is asked; its code comes only then. */
export function GroupInvitationsOnDemand(props: FocusAfter) {
  return <GroupInvitations {...props} open={useAtomValue(groupInvitationsAtom).length > 0} />;
}
