import type { MembershipChange } from '../../store/groups.ts';
import type { ChatNotice } from '../../ui/chat/timeline.ts';

interface People {
  nameOf: (userId: string) => string;
  ownId: string | undefined;
}

/** Lines between the messages about who came and who left. */
export function changeNotices(changes: readonly MembershipChange[], people: People): ChatNotice[] {
  return changes.map((change) => ({
    id: change.id,
    timestamp: change.timestamp,
    text: changeText(change, people),
  }));
}

function changeText({ kind, userId }: MembershipChange, { nameOf, ownId }: People) {
  if (userId === ownId) return kind === 'added' ? 'You joined the group' : 'You left the group';
  const name = <bdi>{nameOf(userId)}</bdi>;
  // Nobody is removed by somebody else: who is removed has left.
  return kind === 'added' ? <>{name} joined the group</> : <>{name} left the group</>;
}
