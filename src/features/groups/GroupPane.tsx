import { useAtomValue } from 'jotai';
import { ArrowLeft, PanelRight } from 'lucide-react';
import { chatsAtom, emptyChat, groupKeyOf } from '../../store/chats.ts';
import type { Group } from '../../store/groups.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { GroupChat } from './GroupChat.tsx';
import { GroupDetails } from './GroupDetails.tsx';
import styles from './GroupPane.module.css';
import { GroupStatus } from './GroupStatus.tsx';
import { groupName } from './names.ts';
import { groupTexts } from './texts.ts';

interface GroupPaneProps {
  group: Group;
  /** Where the details stand. */
  details: 'closed' | 'beside' | 'instead';
  focusRequest: number;
  onClose: () => void;
  onDetailsChange: (open: boolean) => void;
}

/** The open group: its messages, with its details beside them or in their place. Give it a key by group. */
export function GroupPane({ group, details, focusRequest, onClose, onDetailsChange }: GroupPaneProps) {
  const chat = useAtomValue(chatsAtom)[groupKeyOf(group.id)] ?? emptyChat;
  const name = groupName(group);
  return (
    <section className={styles.pane} data-details={details} aria-label={groupTexts.chatIn(name)}>
      <div className={styles.chat}>
        <div className={styles.head}>
          <span className={styles.back}>
            <IconButton label={groupTexts.back} icon={<ArrowLeft />} onClick={onClose} />
          </span>
          <Avatar name={name} size={38} shape="square" />
          <div className={styles.group}>
            <h2 className={styles.name}>
              <bdi>{name}</bdi>
            </h2>
            <p className={styles.count}>{groupTexts.memberCount(group.memberCount)}</p>
          </div>
          <IconButton
            label={groupTexts.details}
            icon={<PanelRight />}
            aria-expanded={details !== 'closed'}
            onClick={() => onDetailsChange(details === 'closed')}
          />
        </div>
        <GroupStatus group={group} state={chat.state} />
        <GroupChat group={group} chat={chat} focusRequest={focusRequest} />
      </div>
      {details !== 'closed' && (
        <GroupDetails
          group={group}
          departedIds={chat.state?.group?.departedIds ?? []}
          onClose={() => onDetailsChange(false)}
        />
      )}
    </section>
  );
}
