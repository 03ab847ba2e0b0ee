import { clsx } from 'clsx';
import { useAtomValue, useSetAtom } from 'jotai';
import { Check, CheckCheck, CircleAlert, Clock3, LockKeyhole } from 'lucide-react';
import { memo, type ReactNode, useState } from 'react';
import { errorText } from '../../lib/errorText.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { MessageView, UndecryptableReason } from '../../store/chats.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Button } from '../../ui/Button.tsx';
import { Disclosure } from '../../ui/Disclosure.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { isSingleEmoji } from './emoji.ts';
import { fullTimestamp, timeOfDay } from './format.ts';
import styles from './MessageBubble.module.css';
import { messageTexts, undecryptableTexts } from './texts.ts';

/** Characters after which a message is folded. */
const foldLength = 1600;

interface MessageBubbleProps {
  message: MessageView;
  own: boolean;
  /** Who wrote it, for screen readers. */
  author: string;
  /** The other person has read up to it. */
  read: boolean;
  /** Its place in a run of messages by the same person. */
  first: boolean;
  last: boolean;
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
      {failed && <FailureActions messageId={message.messageId} />}
    </li>
  );
});

function Content({ message, large }: { message: MessageView; large: boolean }) {
  const { content } = message;
  if (content.kind === 'undecryptable') return <Undecryptable reason={content.reason} />;
  if (content.kind === 'unknown') return <p className={styles.muted}>{messageTexts.unknownKind}</p>;
  if (content.text.trim() === '') return <p className={styles.muted}>{messageTexts.noContent}</p>;
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
          {unfolded ? messageTexts.showLess : messageTexts.showMore}
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
      <span>{messageTexts.undecryptable}</span>
      <div className={styles.details}>
        <Disclosure summary={messageTexts.why}>
          <p>{what}</p>
          <p>{todo}</p>
        </Disclosure>
      </div>
    </div>
  );
}

function Status({ message, read }: { message: MessageView; read: boolean }) {
  if (message.status === 'sending') return <StatusMark icon={<Clock3 />} text={messageTexts.sending} />;
  if (message.status === 'failed') return <StatusMark icon={<CircleAlert />} text={messageTexts.notSent} />;
  if (read) return <StatusMark icon={<CheckCheck className={styles.read} />} text={messageTexts.read} />;
  return <StatusMark icon={<Check />} text={messageTexts.sent} />;
}

function StatusMark({ icon, text }: { icon: ReactNode; text: string }) {
  return (
    <span title={text}>
      {icon}
      <VisuallyHidden>{text}</VisuallyHidden>
    </span>
  );
}

function FailureActions({ messageId }: { messageId: string }) {
  const actions = useAtomValue(requiredActionsAtom);
  const showToast = useSetAtom(showToastAtom);

  async function run(action: Promise<void>, fallback: string) {
    try {
      await action;
    } catch (error) {
      showToast('error', errorText(error, fallback));
    }
  }

  return (
    <div className={styles.failure}>
      <span>{messageTexts.notSent}</span>
      <Button
        size="small"
        variant="quiet"
        onClick={() => void run(actions.retryMessage(messageId), messageTexts.retryFailed)}
      >
        {messageTexts.retry}
      </Button>
      <Button
        size="small"
        variant="quiet"
        onClick={() => void run(actions.discardMessage(messageId), messageTexts.discardFailed)}
      >
        {messageTexts.discard}
      </Button>
    </div>
  );
}
