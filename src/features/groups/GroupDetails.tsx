import { useAtomValue, useSetAtom } from 'jotai';
import { ArrowLeft, X } from 'lucide-react';
import { useDeferredValue, useEffect, useEffectEvent, useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { groupKeyOf } from '../../store/chats.ts';
import { offlineAtom } from '../../store/connection.ts';
import type { Group, GroupMember } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { GalleryButton } from '../files/GalleryButton.tsx';
import { AddMembers } from './AddMembers.tsx';
import { EndGroup } from './EndGroup.tsx';
import styles from './GroupDetails.module.css';

interface GroupDetailsProps {
  group: Group;
  /** User ids of people who have left and are still to be removed from the group's keys. */
  leavingIds: readonly string[];
  onClose: () => void;
  /** Leads to a message of the group. */
  onGoTo: (messageId: string) => void;
}

export function GroupDetails({ group, leavingIds, onClose, onGoTo }: GroupDetailsProps) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  const creates = group.creatorId !== null && group.creatorId === ownId;
  useFreshDetails(group);

  return (
    <section className={styles.details} aria-label={t('groups.details')}>
      <div className={styles.head}>
        <span className={styles.back}>
          <IconButton label={t('groups.backToChat')} icon={<ArrowLeft />} onClick={onClose} />
        </span>
        <h2 className={styles.title} ref={title} tabIndex={-1}>
          {t('groups.details')}
        </h2>
        <span className={styles.close}>
          <IconButton label={t('groups.closeDetails')} icon={<X />} onClick={onClose} />
        </span>
      </div>
      <div className={styles.body}>
        <GalleryButton conversationKey={groupKeyOf(group.id)} onGoTo={onGoTo} />
        <section aria-labelledby="group-members">
          <h3 className={styles.subtitle} id="group-members">
            {t('groups.members')}
            <span className={styles.total}>{group.memberCount}</span>
          </h3>
          {group.members.length === 0 && <p className={styles.hint}>{t('groups.membersPending')}</p>}
          <MemberList group={group} leavingIds={leavingIds} />
        </section>
        {!group.ended && creates && <AddMembers group={group} />}
        {!group.ended && <EndGroup group={group} creates={creates} />}
      </div>
    </section>
  );
}

/** Asks the relay for the group's details when they are opened; offline it keeps what is known. */
function useFreshDetails({ ended, id }: Group) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const offline = useAtomValue(offlineAtom);
  const load = useEffectEvent(() => {
    if (ended || offline) return;
    void attempt(() => actions.loadGroupDetails(id), { failure: t('groups.checkFailed') });
  });
  useEffect(() => load(), []);
}

/** Members drawn at first: more than any screen shows. */
const firstMembers = 30;

function MemberList({ group, leavingIds }: Pick<GroupDetailsProps, 'group' | 'leavingIds'>) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const nameOf = useAtomValue(nameOfAtom);
  // Hundreds of rows would block the page, so those out of sight follow when it has time for them.
  const members = useDeferredValue(group.members, group.members.slice(0, firstMembers));
  const withoutKeys = (group.mismatch?.withoutKeys ?? []).filter((userId) =>
    group.members.every((member) => member.userId !== userId),
  );
  return (
    <ul className={styles.members}>
      {members.map((member) => (
        <MemberRow
          key={member.userId}
          name={nameOf(member.userId)}
          creator={member.userId === group.creatorId}
          you={member.userId === ownId}
          detail={memberDetail(member, group, leavingIds)}
        />
      ))}
      {withoutKeys.map((userId) => (
        <MemberRow
          key={userId}
          name={nameOf(userId)}
          creator={userId === group.creatorId}
          you={userId === ownId}
          detail={t('groups.withoutKeys')}
        />
      ))}
    </ul>
  );
}

interface MemberRowProps {
  name: string;
  creator: boolean;
  you: boolean;
  detail: string;
}

function MemberRow({ name, creator, you, detail }: MemberRowProps) {
  return (
    <li className={styles.member}>
      <Avatar name={name} size={36} />
      <div className={styles.who}>
        <p className={styles.line}>
          <bdi className={styles.name}>{name}</bdi>
          {creator && <Tag>{t('groups.creator')}</Tag>}
          {you && <Tag>{t('groups.you')}</Tag>}
        </p>
        <p className={styles.detail}>{detail}</p>
      </div>
    </li>
  );
}

function memberDetail(
  { userId, devices }: GroupMember,
  { mismatch }: Group,
  leavingIds: readonly string[],
): string {
  if (leavingIds.includes(userId)) return t('groups.leaving');
  if (mismatch?.unlisted.includes(userId)) return t('groups.unlisted');
  if (mismatch?.withoutKeys.includes(userId) || devices === 0) return t('groups.withoutKeys');
  return t('groups.devices', { count: devices });
}
