import { UsersRound } from 'lucide-react';
import { EmptyState } from '../../ui/EmptyState.tsx';

export function GroupsTab() {
  return (
    <EmptyState icon={<UsersRound />} title="No groups yet">
      Group chat is not part of this version. One-to-one conversations are in Messages.
    </EmptyState>
  );
}
