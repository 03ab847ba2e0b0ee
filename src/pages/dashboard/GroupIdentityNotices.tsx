import { useAtomValue } from 'jotai';
import { IdentityNoticeOnDemand } from '../../features/trust/IdentityNoticeOnDemand.tsx';
import type { Group } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { trustAtom } from '../../store/trust.ts';

/** Says above a group whose account key has changed: the group waits here until that is decided. */
function GroupIdentityNotices({ group }: { group: Group }) {
  const trust = useAtomValue(trustAtom);
  const nameOf = useAtomValue(nameOfAtom);
  return group.members
    .filter(({ userId }) => trust.get(userId)?.keyOffered === true)
    .map(({ userId }) => <IdentityNoticeOnDemand key={userId} userId={userId} name={nameOf(userId)} />);
}

/** Draws the notices above the messages of a group. */
export const groupNotices = (group: Group) => <GroupIdentityNotices group={group} />;
