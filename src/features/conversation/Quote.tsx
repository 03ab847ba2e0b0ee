import { useAtomValue } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import type { Quote } from '../../store/chats.ts';
import { ownOrOtherNameAtom } from '../../store/mentions.ts';
import { contentPreview } from './preview.ts';
import styles from './Quote.module.css';

export type QuotedMessage = NonNullable<Quote['message']>;

interface QuoteLinesProps {
  message: QuotedMessage;
  own: boolean;
  /** Name of who wrote it. */
  author: string;
}

/** The author and the beginning of a message that another one answers. */
export function QuoteLines({ message: { content }, own, author }: QuoteLinesProps) {
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  return (
    <>
      <bdi className={styles.author}>{author}</bdi>
      <bdi className={content.kind === 'text' ? styles.text : styles.muted}>
        {contentPreview(content, { own, nameOf })}
      </bdi>
    </>
  );
}

interface QuoteBlockProps extends Omit<QuoteLinesProps, 'message'> {
  /** Null where this device doesn't have it. */
  message: QuotedMessage | null;
  /** With null: its time was over. */
  hasDisappeared: boolean;
  /** True if the Tab key reaches it. */
  reachable: boolean;
  onLead: (messageId: string) => void;
}

/** The message that a bubble answers: it leads there. */
export function QuoteBlock({ message, hasDisappeared, own, author, reachable, onLead }: QuoteBlockProps) {
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  if (message === null) {
    const why = hasDisappeared ? 'chat.originalDisappeared' : 'chat.originalMissing';
    return <p className={styles.missing}>{t(why)}</p>;
  }
  return (
    <button
      type="button"
      className={styles.quote}
      tabIndex={reachable ? 0 : -1}
      aria-label={t('chat.inReplyTo', {
        name: author,
        text: contentPreview(message.content, { own, nameOf }),
      })}
      onClick={() => onLead(message.messageId)}
    >
      <QuoteLines message={message} own={own} author={author} />
    </button>
  );
}
