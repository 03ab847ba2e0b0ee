import { useAtomValue, useSetAtom } from 'jotai';
import { PanelRight } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import { chatsAtom, emptyChat, groupKeyOf, soughtAtom } from '../../store/chats.ts';
import { groupName } from '../../store/conversationNames.ts';
import type { Group } from '../../store/groups.ts';
import { IconButton } from '../../ui/Button.tsx';
import { PartBoundary } from '../../ui/PartBoundary.tsx';
import { ChatHeader } from '../conversation/ChatHeader.tsx';
import { MuteButton } from '../conversation/MuteButton.tsx';
import { OrTyping } from '../conversation/OrTyping.tsx';
import { TimerButton } from '../conversation/TimerButton.tsx';
import { GroupChat } from './GroupChat.tsx';
import { GroupDetails } from './GroupDetails.tsx';
import styles from './GroupPane.module.css';
import { GroupStatus } from './GroupStatus.tsx';

interface GroupPaneProps {
  group: Group;
  /** The place of the details: beside the messages or instead of them. */
  details: 'closed' | 'beside' | 'instead';
  focusRequest: number;
  notice?: ReactNode;
  onClose: () => void;
  onDetailsChange: (open: boolean) => void;
}

/** The open group: its messages, with its details beside them or in their place. Give it a key by group. */
export function GroupPane(props: GroupPaneProps) {
  const { group, details, focusRequest, notice, onClose, onDetailsChange } = props;
  const chat = useAtomValue(chatsAtom)[groupKeyOf(group.id)] ?? emptyChat;
  const name = groupName(group);
  const goTo = useGoTo(props);
  return (
    <section className={styles.pane} data-details={details} aria-label={t('groups.chatIn', { name })}>
      <div className={styles.chat}>
        <ChatHeader
          name={name}
          shape="square"
          detail={
            <OrTyping conversationKey={groupKeyOf(group.id)} live>
              {t('groups.memberCount', { count: group.memberCount })}
            </OrTyping>
          }
          backLabel={t('groups.back')}
          onBack={onClose}
          action={
            <>
              {!group.ended && <TimerButton conversationKey={groupKeyOf(group.id)} state={chat.state} />}
              {!group.ended && <MuteButton conversationKey={groupKeyOf(group.id)} />}
              <IconButton
                label={t('groups.details')}
                icon={<PanelRight />}
                aria-expanded={details !== 'closed'}
                onClick={() => onDetailsChange(details === 'closed')}
              />
            </>
          }
        />
        <PartBoundary part="group-chat" shows={group.id}>
          <GroupStatus group={group} state={chat.state} />
          {notice}
          <GroupChat group={group} chat={chat} focusRequest={focusRequest} />
        </PartBoundary>
      </div>
      {details !== 'closed' && (
        <PartBoundary part="group-details" shows={group.id}>
          <GroupDetails
            group={group}
            leavingIds={chat.state?.group?.leavingIds ?? []}
            onClose={() => onDetailsChange(false)}
            onGoTo={goTo}
          />
        </PartBoundary>
      )}
    </section>
  );
}

/** Returns a way to a message from the details: where they are in the place of the messages, these have to be there first. */
function useGoTo({ details, group, onDetailsChange }: GroupPaneProps): (messageId: string) => void {
  const seek = useSetAtom(soughtAtom);
  const wanted = useRef<string | null>(null);
  const key = groupKeyOf(group.id);
  useEffect(() => {
    const messageId = wanted.current;
    if (messageId === null || details === 'instead') return;
    wanted.current = null;
    seek({ key, messageId });
  }, [details, key, seek]);
  return (messageId) => {
    if (details !== 'instead') return seek({ key, messageId });
    wanted.current = messageId;
    onDetailsChange(false);
  };
}
