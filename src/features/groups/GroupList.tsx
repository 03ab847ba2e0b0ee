import { useAtomValue } from 'jotai';
import { Plus } from 'lucide-react';
import { chatsAtom, groupKeyOf } from '../../store/chats.ts';
import { type Group, groupsAtom, groupsErrorAtom } from '../../store/groups.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Avatar } from '../../ui/Avatar.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { Tag } from '../../ui/Tag.tsx';
import styles from './GroupList.module.css';
import { NewGroupForm } from './NewGroupForm.tsx';
import { groupName } from './names.ts';
import { groupTexts } from './texts.ts';

interface GroupListProps {
  open: string | null;
  onOpen: (groupId: string) => void;
  creating: boolean;
  onCreatingChange: (creating: boolean) => void;
  onCreated: (groupId: string) => void;
}

export function GroupList({ open, onOpen, creating, onCreatingChange, onCreated }: GroupListProps) {
  const groups = useAtomValue(groupsAtom);
  const error = useAtomValue(groupsErrorAtom);
  const waiting = !groups.loaded && error === null;

  return (
    <section className={styles.pane} aria-label={groupTexts.title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{groupTexts.title}</h2>
        <Button size="small" aria-expanded={creating} onClick={() => onCreatingChange(!creating)}>
          <Plus size={16} aria-hidden="true" />
          {groupTexts.newGroup}
        </Button>
      </div>
      {creating && <NewGroupForm onCreated={onCreated} onCancel={() => onCreatingChange(false)} />}
      <div className={styles.list}>
        {error !== null && <Alert kind="error">{error}</Alert>}
        {waiting && groups.items.length === 0 && <LoadingLine text={groupTexts.loading} />}
        {groups.loaded && groups.items.length === 0 && (
          <p className={styles.empty}>
            <strong>{groupTexts.noGroups}</strong>
            {groupTexts.noGroupsHint}
          </p>
        )}
        <ul>
          {groups.items.map((group) => (
            <li key={group.id}>
              <Row group={group} active={group.id === open} onOpen={onOpen} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

interface RowProps {
  group: Group;
  active: boolean;
  onOpen: (groupId: string) => void;
}

function Row({ group, active, onOpen }: RowProps) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const unread = useAtomValue(chatsAtom)[groupKeyOf(group.id)]?.state?.unread ?? 0;
  const name = groupName(group);
  return (
    <button
      type="button"
      className={styles.row}
      aria-current={active ? 'true' : undefined}
      onClick={() => onOpen(group.id)}
    >
      <Avatar name={name} size={44} shape="square" />
      <span className={styles.body}>
        <bdi className={styles.name}>{name}</bdi>
        <span className={styles.line}>
          {group.creatorId !== null && group.creatorId === ownId ? (
            <Tag>{groupTexts.creator}</Tag>
          ) : (
            <span className={styles.meta}>{groupTexts.memberCount(group.memberCount)}</span>
          )}
        </span>
      </span>
      {!active && <Badge count={unread} meaning="unread" />}
    </button>
  );
}
