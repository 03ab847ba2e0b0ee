import { useAtomValue, useSetAtom } from 'jotai';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { activeChatAtom } from '../../store/chats.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { PartBoundary } from '../../ui/PartBoundary.tsx';
import type { VirtualListHandle } from '../../ui/VirtualList.tsx';
import { Panes } from '../conversation/Panes.tsx';
import { ChatPane, type ChatVerification } from './ChatPane.tsx';
import { ConversationList } from './ConversationList.tsx';

interface MessagesTabProps {
  /** User id of the open chat. */
  open: string | null;
  /** Each new positive number moves the focus to the open chat's input. */
  focusRequest: number;
  onOpen: (userId: string) => void;
  onClose: () => void;
  onFindContacts: () => void;
  /** Verification of the open chat's person. */
  verification?: ChatVerification | undefined;
  /** Returns the mark right after a person's name in the list. */
  markOf?: ((userId: string) => ReactNode) | undefined;
}

/**
 * The list beside the chat; on a phone one of the two. A chat counts as open (and its messages as read) only while this
 * tab is shown.
 */
export function MessagesTab(props: MessagesTabProps) {
  const { open, focusRequest, onOpen, onClose, onFindContacts } = props;
  const active = useAtomValue(activeChatAtom);
  const openChat = useOpenChat();
  const list = useRef<VirtualListHandle>(null);
  const shown = useRef<string | null>(null);

  const follow = useEffectEvent((wanted: string | null) => {
    if (wanted !== active) void openChat(wanted);
    // The closed chat took the focus along: the person goes on from its row.
    if (wanted === null && shown.current !== null) list.current?.focus(shown.current);
    shown.current = wanted;
  });
  const leave = useEffectEvent(() => void openChat(null));
  useEffect(() => follow(open), [open]);
  useEffect(() => () => leave(), []);

  return (
    <Panes
      narrow={open === null ? 'list' : 'open'}
      list={
        <PartBoundary part="conversation-list">
          <ConversationList
            handle={list}
            onOpen={(userId) => {
              // A click on the open chat tries again to load what failed.
              if (userId === open) void openChat(userId);
              onOpen(userId);
            }}
            onFindContacts={onFindContacts}
            markOf={props.markOf}
          />
        </PartBoundary>
      }
    >
      <ChatPane verification={props.verification} focusRequest={focusRequest} onClose={onClose} />
    </Panes>
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
      showToast('error', errorText(error, t('messages.openFailed')));
    }
  };
}
