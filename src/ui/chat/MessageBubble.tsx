import { clsx } from 'clsx';
import { Check, CheckCheck, CircleAlert, Clock3, LockKeyhole } from 'lucide-react';
import { memo, type ReactNode, useState } from 'react';
import { Button } from '../Button.tsx';
import { Disclosure } from '../Disclosure.tsx';
import { fullTimestamp, timeOfDay } from '../format.ts';
import { VisuallyHidden } from '../VisuallyHidden.tsx';
import { isSingleEmoji } from './emoji.ts';
import styles from './MessageBubble.module.css';
import type { ChatMessage, UndecryptableReason } from './message.ts';
import { chatTexts, undecryptableTexts } from './texts.ts';

/** Characters after which a message is folded. */
const foldLength = 1600;

interface MessageBubbleProps {
  message: ChatMessage;
  own: boolean;
  /** Who wrote it, for screen readers. */
  author: string;
  /** Others have read up to it. */
  read: boolean;
  /** Its place in a run of messages by the same person. */
  first: boolean;
  last: boolean;
  /** Keep these two the same from render to render: a long list of bubbles is not drawn anew then. */
  onRetry: (messageId: string) => void;
  onDiscard: (messageId: string) => void;
}

export const MessageBubble = memo(function MessageBubble(props: MessageBubbleProps) {
  const { message, own, author, first, last } = props;
  const failed = message.status === 'failed';
  const large = message.content.kind === 'text' && isSingleEmoji(message.content.text.trim());
  return (
    <li
      className={clsx(
        styles.item,
        own && styles.own,
        first && styles.first,
        last && styles.last,
        failed && styles.failed,
        large && styles.large,
      )}
    >
      <div className={styles.bubble}>
        <VisuallyHidden>{author}: </VisuallyHidden>
        <Content message={message} large={large} />
        <div className={styles.meta}>
          <time dateTime={message.timestamp} title={fullTimestamp(message.timestamp)}>
            {timeOfDay(message.timestamp)}
          </time>
          {own && <Status message={message} read={props.read} />}
        </div>
      </div>
      {failed && (
        <div className={styles.failure}>
          <span>{chatTexts.notSent}</span>
          <Button size="small" variant="quiet" onClick={() => props.onRetry(message.messageId)}>
            {chatTexts.retry}
          </Button>
          <Button size="small" variant="quiet" onClick={() => props.onDiscard(message.messageId)}>
            {chatTexts.discard}
          </Button>
        </div>
      )}
    </li>
  );
});

function Content({ message, large }: { message: ChatMessage; large: boolean }) {
  const { content } = message;
  if (content.kind === 'undecryptable') return <Undecryptable reason={content.reason} />;
  if (content.kind === 'unknown') return <p className={styles.muted}>{chatTexts.unknownKind}</p>;
  if (content.text.trim() === '') return <p className={styles.muted}>{chatTexts.noContent}</p>;
  if (large) return <p className={styles.emoji}>{content.text.trim()}</p>;
  return <FoldedText text={content.text} />;
}

/** Long messages are folded: one person's wall of text must not bury the conversation. */
function FoldedText({ text }: { text: string }) {
  const [unfolded, setUnfolded] = useState(false);
  const long = text.length > foldLength;
  return (
    <>
      <p className={styles.text} dir="auto">
        {long && !unfolded ? `${text.slice(0, foldLength)}…` : text}
      </p>
      {long && (
        <button
          type="button"
          className={styles.more}
          aria-expanded={unfolded}
          onClick={() => setUnfolded(!unfolded)}
        >
          {unfolded ? chatTexts.showLess : chatTexts.showMore}
        </button>
      )}
    </>
  );
}

function Undecryptable({ reason }: { reason: UndecryptableReason }) {
  const { what, todo } = undecryptableTexts[reason];
  return (
    <div className={styles.notice}>
      <LockKeyhole aria-hidden="true" />
      <span>{chatTexts.undecryptable}</span>
      <div className={styles.details}>
        <Disclosure summary={chatTexts.why}>
          <p>{what}</p>
          <p>{todo}</p>
        </Disclosure>
      </div>
    </div>
  );
}

function Status({ message, read }: { message: ChatMessage; read: boolean }) {
  if (message.status === 'sending') return <StatusMark icon={<Clock3 />} text={chatTexts.sending} />;
  if (message.status === 'failed') return <StatusMark icon={<CircleAlert />} text={chatTexts.notSent} />;
  if (read) return <StatusMark icon={<CheckCheck className={styles.read} />} text={chatTexts.read} />;
  return <StatusMark icon={<Check />} text={chatTexts.sent} />;
}

function StatusMark({ icon, text }: { icon: ReactNode; text: string }) {
  return (
    <span title={text}>
      {icon}
      <VisuallyHidden>{text}</VisuallyHidden>
    </span>
  );
}
