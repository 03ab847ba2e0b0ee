import { ArrowDown, LockKeyhole } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { Avatar } from '../Avatar.tsx';
import { Button } from '../Button.tsx';
import { dayLabel } from '../format.ts';
import { LoadingLine } from '../Spinner.tsx';
import { useNow } from '../useNow.ts';
import { MessageBubble } from './MessageBubble.tsx';
import styles from './MessageList.module.css';
import type { ChatMessage } from './message.ts';
import { chatTexts } from './texts.ts';
import { type ChatNotice, type MessageRun, timeline } from './timeline.ts';
import { useChatScroll } from './useChatScroll.ts';

export interface MessageListProps {
  /** Its accessible name. */
  label: string;
  /** Ascending by time. */
  messages: readonly ChatMessage[];
  /** Ascending by time. */
  notices?: readonly ChatNotice[];
  ownId: string | undefined;
  nameOf: (userId: string) => string;
  /** Whether others have read an own message. */
  isRead: (message: ChatMessage) => boolean;
  /** Says who wrote what, where there can be more than two. */
  showAuthors?: boolean;
  loading: boolean;
  hasOlder: boolean;
  onLoadOlder: () => Promise<unknown>;
  /** Keep these two the same from render to render. */
  onRetry: (messageId: string) => void;
  onDiscard: (messageId: string) => void;
  /** Stands above the oldest message once there is none older. */
  beginning: ReactNode;
  /** Stands there while there are no messages. */
  empty: ReactNode;
}

/** Messages of one conversation. Give it a key by conversation: its scroll position belongs to it. */
export function MessageList(props: MessageListProps) {
  const { messages, notices, ownId, hasOlder } = props;
  const older = useOlderMessages(hasOlder, props.onLoadOlder);
  const { scroller, unseenBelow, onScroll, toBottom } = useChatScroll({
    messages,
    ownId,
    onNearTop: older.load,
  });
  const days = useMemo(
    () => timeline(messages, noticesBeside(messages, notices, hasOlder)),
    [messages, notices, hasOlder],
  );
  const now = useNow();

  return (
    <div className={styles.frame}>
      <section
        className={styles.scroller}
        ref={scroller}
        onScroll={onScroll}
        aria-label={props.label}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be scrollable by keyboard
        tabIndex={0}
      >
        {messages.length === 0 &&
          (props.loading ? <LoadingLine text={chatTexts.loadingMessages} /> : props.empty)}
        <div className={styles.content}>
          {hasOlder ? (
            <div className={styles.older}>
              <Button size="small" variant="quiet" busy={older.loading} onClick={older.load}>
                {older.loading ? chatTexts.loadingOlder : chatTexts.loadOlder}
              </Button>
            </div>
          ) : (
            messages.length > 0 && props.beginning
          )}
          {days.map((day) => (
            <section key={day.key}>
              <h3 className={styles.day}>{dayLabel(day.timestamp, now)}</h3>
              {day.items.map((item) =>
                item.kind === 'notice' ? (
                  <p key={item.notice.id} className={styles.notice}>
                    {item.notice.text}
                  </p>
                ) : (
                  <Run key={item.messages[0]?.messageId} run={item} list={props} />
                ),
              )}
            </section>
          ))}
        </div>
      </section>
      {unseenBelow && (
        <div className={styles.jump}>
          <Button size="small" onClick={toBottom}>
            <ArrowDown size={16} aria-hidden="true" />
            {chatTexts.newMessages}
          </Button>
        </div>
      )}
    </div>
  );
}

function Run({ run, list }: { run: MessageRun; list: MessageListProps }) {
  const own = run.senderId === list.ownId;
  const name = list.nameOf(run.senderId);
  const bubbles = (
    <ol className={styles.bubbles}>
      {run.messages.map((message, index) => (
        <MessageBubble
          key={message.messageId}
          message={message}
          own={own}
          author={own ? chatTexts.you : name}
          read={list.isRead(message)}
          first={index === 0}
          last={index === run.messages.length - 1}
          onRetry={list.onRetry}
          onDiscard={list.onDiscard}
        />
      ))}
    </ol>
  );
  if (own || !list.showAuthors) return <div className={styles.run}>{bubbles}</div>;
  return (
    <div className={`${styles.run} ${styles.authored}`}>
      <Avatar name={name} size={30} />
      <div className={styles.byAuthor}>
        {/* Each bubble says it to screen readers. */}
        <p className={styles.author} aria-hidden="true">
          <bdi>{name}</bdi>
        </p>
        {bubbles}
      </div>
    </div>
  );
}

/** What a conversation's beginning says about who can read it. */
export function SealLine({ children }: { children: ReactNode }) {
  return (
    <p className={styles.seal}>
      <LockKeyhole aria-hidden="true" />
      <span>{children}</span>
    </p>
  );
}

/** Those from the time shown: the place of older ones is among messages that are not loaded yet. */
function noticesBeside(
  messages: readonly ChatMessage[],
  notices: readonly ChatNotice[] | undefined,
  hasOlder: boolean,
): readonly ChatNotice[] | undefined {
  const oldest = messages[0];
  if (!hasOlder || oldest === undefined) return notices;
  const since = Date.parse(oldest.timestamp);
  return notices?.filter(({ timestamp }) => Date.parse(timestamp) >= since);
}

function useOlderMessages(hasOlder: boolean, loadOlder: () => Promise<unknown>) {
  const [loading, setLoading] = useState(false);

  async function run() {
    setLoading(true);
    try {
      await loadOlder();
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
