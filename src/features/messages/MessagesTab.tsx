import { useAtom, useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useEffectEvent } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { activeChatAtom } from '../../store/chats.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { useMediaQuery, wideScreen } from '../../ui/useMediaQuery.ts';
import { lastChatAtom, openRequestsAtom } from './atoms.ts';
import { ChatPane } from './ChatPane.tsx';
import { ConversationList } from './ConversationList.tsx';
import styles from './MessagesTab.module.css';
import { messageTexts } from './texts.ts';

interface MessagesTabProps {
  /** User id of the chat to show at once; without it, on a wide screen, the one shown last. */
  initialChat: string | null;
  onFindContacts: () => void;
}

/**
 * The list beside the chat; on a phone one of the two. A chat counts as open (and its messages as read) only while this
 * tab is shown.
 */
export function MessagesTab({ initialChat, onFindContacts }: MessagesTabProps) {
  const active = useAtomValue(activeChatAtom);
  const [lastChat, setLastChat] = useAtom(lastChatAtom);
  const setOpenRequests = useSetAtom(openRequestsAtom);
  const openChat = useOpenChat();
  const wide = useMediaQuery(wideScreen);

  const enter = useEffectEvent(() => {
    const wanted = initialChat ?? (wide ? lastChat : null);
    if (wanted !== null) show(wanted);
  });
  const leave = useEffectEvent(() => void openChat(null));
  useEffect(() => {
    enter();
    return () => leave();
  }, []);

  function show(userId: string | null) {
    setLastChat(() => userId);
    setOpenRequests((count) => count + 1);
    void openChat(userId);
  }

  return (
    <div className={styles.tab} data-chat={active === null ? 'none' : 'open'}>
      <ConversationList onOpen={show} onFindContacts={onFindContacts} />
      <ChatPane onClose={() => show(null)} />
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
