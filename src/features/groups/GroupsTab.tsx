import { UsersRound } from 'lucide-react';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';

export function GroupsTab() {
  return (
    <>
      <VisuallyHidden as="h2">Groups</VisuallyHidden>
      <EmptyState icon={<UsersRound />} title="No groups yet">
        Group chat is not part of this version. One-to-one conversations are in Messages.
      </EmptyState>
    </>
  );
}
