import { useAtomValue, useSetAtom } from 'jotai';
import { ArrowDown, LockKeyhole, MessageCircle } from 'lucide-react';
import { useMemo, useState } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { Chat } from '../../store/chats.ts';
import { currentUserAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { dayLabel } from './format.ts';
import { MessageBubble } from './MessageBubble.tsx';
import styles from './MessageList.module.css';
import { messageTexts } from './texts.ts';
import { timeline } from './timeline.ts';
import { useChatScroll } from './useChatScroll.ts';
import { useNow } from './useNow.ts';

interface MessageListProps {
  userId: string;
  name: string;
  chat: Chat;
}

/** Messages of one chat. Give it a key by user id: its scroll position belongs to one conversation. */
export function MessageList({ userId, name, chat }: MessageListProps) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const older = useOlderMessages(userId, chat.hasOlder);
  const { scroller, unseenBelow, onScroll, toBottom } = useChatScroll({
    messages: chat.messages,
    ownId,
    onNearTop: older.load,
  });
  const days = useMemo(() => timeline(chat.messages), [chat.messages]);
  const peerReadSeq = chat.state?.peerReadSeq ?? 0;
  const now = useNow();

  if (chat.messages.length === 0) {
    return (
      <div className={styles.frame}>
        <div className={styles.scroller}>
          {chat.loading ? (
            <LoadingLine text={messageTexts.loadingMessages} />
          ) : (
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
          )}
        </div>
      </div>
    );
  }

  return (
    <div className={styles.frame}>
      <section
        className={styles.scroller}
        ref={scroller}
        onScroll={onScroll}
        aria-label={`Messages with ${name}`}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be scrollable by keyboard
        tabIndex={0}
      >
        <div className={styles.content}>
          {chat.hasOlder ? (
            <div className={styles.older}>
              <Button size="small" variant="quiet" busy={older.loading} onClick={older.load}>
                {older.loading ? messageTexts.loadingOlder : messageTexts.loadOlder}
              </Button>
            </div>
          ) : (
            <p className={styles.seal}>
              <LockKeyhole aria-hidden="true" />
              <span>
                End-to-end encrypted. Only you and <bdi>{name}</bdi> can read it.
              </span>
            </p>
          )}
          {days.map((day) => (
            <section key={day.key}>
              <h3 className={styles.day}>{dayLabel(day.timestamp, now)}</h3>
              {day.runs.map((run) => (
                <ol key={run.messages[0]?.messageId} className={styles.run}>
                  {run.messages.map((message, index) => (
                    <MessageBubble
                      key={message.messageId}
                      message={message}
                      own={message.senderId === ownId}
                      author={message.senderId === ownId ? 'You' : name}
                      read={message.seq !== null && message.seq <= peerReadSeq}
                      first={index === 0}
                      last={index === run.messages.length - 1}
                    />
                  ))}
                </ol>
              ))}
            </section>
          ))}
        </div>
      </section>
      {unseenBelow && (
        <div className={styles.jump}>
          <Button size="small" onClick={toBottom}>
            <ArrowDown size={16} aria-hidden="true" />
            {messageTexts.newMessages}
          </Button>
        </div>
      )}
    </div>
  );
}

function useOlderMessages(userId: string, hasOlder: boolean) {
  const actions = useAtomValue(requiredActionsAtom);
  const showToast = useSetAtom(showToastAtom);
  const [loading, setLoading] = useState(false);

  async function run() {
    setLoading(true);
    try {
      await actions.loadOlderMessages(userId);
    } catch (error) {
      showToast('error', errorText(error, messageTexts.loadOlderFailed));
    } finally {
      setLoading(false);
    }
  }

  return {
    loading,
    load: () => {
      if (hasOlder && !loading) void run();
    },
  };
}
