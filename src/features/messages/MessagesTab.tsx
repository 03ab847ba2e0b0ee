import { useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useEffectEvent } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { activeChatAtom } from '../../store/chats.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { ChatPane } from './ChatPane.tsx';
import { ConversationList } from './ConversationList.tsx';
import styles from './MessagesTab.module.css';
import { messageTexts } from './texts.ts';

interface MessagesTabProps {
  /** User id of the open chat. */
  open: string | null;
  /** Each new positive number moves the focus to the open chat's input. */
  focusRequest: number;
  onOpen: (userId: string) => void;
  onClose: () => void;
  onFindContacts: () => void;
}

/**
 * The list beside the chat; on a phone one of the two. A chat counts as open (and its messages as read) only while this
 * tab is shown.
 */
export function MessagesTab({ open, focusRequest, onOpen, onClose, onFindContacts }: MessagesTabProps) {
  const active = useAtomValue(activeChatAtom);
  const openChat = useOpenChat();

  const follow = useEffectEvent((wanted: string | null) => {
    if (wanted !== active) void openChat(wanted);
  });
  const leave = useEffectEvent(() => void openChat(null));
  useEffect(() => follow(open), [open]);
  useEffect(() => () => leave(), []);

  return (
    <div className={styles.tab} data-chat={open === null ? 'none' : 'open'}>
      <ConversationList
        onOpen={(userId) => {
          // Asked for again: what could not be loaded may be there now.
          if (userId === open) void openChat(userId);
          onOpen(userId);
        }}
        onFindContacts={onFindContacts}
      />
      <ChatPane focusRequest={focusRequest} onClose={onClose} />
    </div>
  );
}

/** Opens a chat, or closes the open one with null; says so when it can't be loaded. */
function useOpenChat() {
  const actions = useAtomValue(requiredActionsAtom);
  const showToast = useSetAtom(showToastAtom);
  return async (userId: string | null) => {
    try {
      await actions.openChat(userId);
    } catch (error) {
      // Closing fails only when the session has ended, and then there is nothing left to close.
      if (userId === null) return;
      showToast('error', errorText(error, messageTexts.openFailed));
    }
  };
}
