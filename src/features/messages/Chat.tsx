import { useAtomValue, useSetAtom } from 'jotai';
import { MessageCircle } from 'lucide-react';
import { useCallback } from 'react';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { Chat as ChatState } from '../../store/chats.ts';
import { draftsAtom, sendDraftAtom } from '../../store/drafts.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Composer } from '../../ui/chat/Composer.tsx';
import { MessageList, SealLine } from '../../ui/chat/MessageList.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { messageTexts } from './texts.ts';

interface ChatProps {
  userId: string;
  name: string;
  chat: ChatState;
  focusRequest: number;
}

/** Messages with one person and the form to write more. Give it a key by user id. */
export function Chat({ userId, name, chat, focusRequest }: ChatProps) {
  const actions = useAtomValue(requiredActionsAtom);
  const ownId = useAtomValue(currentUserAtom)?.id;
  const draft = useAtomValue(draftsAtom)[userId] ?? '';
  const setDrafts = useSetAtom(draftsAtom);
  const sendDraft = useSetAtom(sendDraftAtom);
  const attempt = useSetAtom(attemptAtom);
  const retry = useCallback(
    (messageId: string) =>
      void attempt(() => actions.retryMessage(messageId), { failure: messageTexts.retryFailed }),
    [actions, attempt],
  );
  const discard = useCallback(
    (messageId: string) =>
      void attempt(() => actions.discardMessage(messageId), { failure: messageTexts.discardFailed }),
    [actions, attempt],
  );
  const peerReadSeq = chat.state?.peerReadSeq ?? 0;

  return (
    <>
      <MessageList
        label={messageTexts.messagesWith(name)}
        messages={chat.messages}
        ownId={ownId}
        nameOf={() => name}
        isRead={({ seq }) => seq !== null && seq <= peerReadSeq}
        loading={chat.loading}
        hasOlder={chat.hasOlder}
        onLoadOlder={() =>
          attempt(() => actions.loadOlderMessages(userId), { failure: messageTexts.loadOlderFailed })
        }
        onRetry={retry}
        onDiscard={discard}
        beginning={
          <SealLine>
            End-to-end encrypted. Only you and <bdi>{name}</bdi> can read it.
          </SealLine>
        }
        empty={
          <EmptyState
            icon={<MessageCircle />}
            title={
              <>
                No messages yet with <bdi>{name}</bdi>
              </>
            }
          >
            {messageTexts.noMessagesHint}
          </EmptyState>
        }
      />
      <Composer
        name={name}
        draft={draft}
        onDraftChange={(text) => setDrafts((drafts) => ({ ...drafts, [userId]: text }))}
        onSend={() => void sendDraft(userId, messageTexts.sendFailed)}
        focusRequest={focusRequest}
      />
    </>
  );
}
