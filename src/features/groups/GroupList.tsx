import { useAtomValue } from 'jotai';
import { Plus } from 'lucide-react';
import { type Ref, useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import { chatsAtom, groupKeyOf } from '../../store/chats.ts';
import { groupName } from '../../store/conversationNames.ts';
import { type Group, groupsAtom } from '../../store/groups.ts';
import { mutesAtom } from '../../store/mutes.ts';
import { currentUserAtom } from '../../store/session.ts';
import { useLoadFailure } from '../../store/useLoadFailure.ts';
import { Button } from '../../ui/Button.tsx';
import { LoadFailure } from '../../ui/LoadFailure.tsx';
import { SkeletonRows } from '../../ui/SkeletonRows.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { type RowControls, VirtualList, type VirtualListHandle } from '../../ui/VirtualList.tsx';
import { ListPane } from '../conversation/ListPane.tsx';
import { ListRow, listRowHeight } from '../conversation/ListRow.tsx';
import { OrTyping } from '../conversation/OrTyping.tsx';
import { GroupInvitationsOnDemand } from './GroupInvitationsOnDemand.tsx';
import styles from './GroupList.module.css';
import { NewGroupForm } from './NewGroupForm.tsx';

interface GroupListProps {
  /** Leads the focus to a group's row. */
  handle: Ref<VirtualListHandle>;
  open: string | null;
  onOpen: (groupId: string) => void;
  creating: boolean;
  onCreatingChange: (creating: boolean) => void;
  onCreated: (groupId: string) => void;
}

export function GroupList({ handle, open, onOpen, creating, onCreatingChange, onCreated }: GroupListProps) {
  const groups = useAtomValue(groupsAtom);
  const failure = useLoadFailure(groups);
  const waiting = !groups.loaded && groups.error === null;
  const title = useRef<HTMLHeadingElement>(null);

  return (
    <ListPane
      label={t('groups.title')}
      title={t('groups.title')}
      titleRef={title}
      notice={failure && <LoadFailure {...failure} focusAfter={title} />}
      action={
        <Button size="small" aria-expanded={creating} onClick={() => onCreatingChange(!creating)}>
          <Plus size={16} aria-hidden="true" />
          {t('groups.newGroup')}
        </Button>
      }
      tools={creating && <NewGroupForm onCreated={onCreated} onCancel={() => onCreatingChange(false)} />}
    >
      <GroupInvitationsOnDemand focusAfter={title} />
      {waiting && groups.items.length === 0 && <SkeletonRows text={t('groups.loading')} shape="square" />}
      {groups.loaded && groups.items.length === 0 && !creating && (
        <p className={styles.empty}>
          <strong>{t('groups.noGroups')}</strong>
          {t('groups.noGroupsHint')}
        </p>
      )}
      <VirtualList
        ref={handle}
        items={groups.items}
        keyOf={idOf}
        estimatedHeight={listRowHeight}
        current={open}
      >
        {(group, controls) => <Row group={group} current={group.id === open} onOpen={onOpen} {...controls} />}
      </VirtualList>
    </ListPane>
  );
}

function idOf({ id }: Group): string {
  return id;
}

interface RowProps extends RowControls {
  group: Group;
  current: boolean;
  onOpen: (groupId: string) => void;
}

function Row({ group, current, onOpen, tabIndex }: RowProps) {
  const unread = useAtomValue(chatsAtom)[groupKeyOf(group.id)]?.state?.unread ?? 0;
  const muted = groupKeyOf(group.id) in useAtomValue(mutesAtom);
  return (
    <ListRow
      name={groupName(group)}
      shape="square"
      detail={
        <OrTyping conversationKey={groupKeyOf(group.id)}>
          <Standing group={group} />
        </OrTyping>
      }
      unread={current ? 0 : unread}
      muted={muted}
      current={current}
      onOpen={() => onOpen(group.id)}
      tabIndex={tabIndex}
    />
  );
}

function Standing({ group }: { group: Group }) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  if (group.ended) return <Tag>{t(group.left ? 'groups.leftElsewhere' : 'groups.ended')}</Tag>;
  if (group.creatorId !== null && group.creatorId === ownId) return <Tag>{t('groups.creator')}</Tag>;
  return t('groups.memberCount', { count: group.memberCount });
}
