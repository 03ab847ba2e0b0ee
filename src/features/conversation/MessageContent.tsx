import { LockKeyhole } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { undecryptableTexts } from '../../i18n/undecryptable.ts';
import type { MessageView, UndecryptableReason } from '../../store/chats.ts';
import { Disclosure } from '../../ui/Disclosure.tsx';
import { MessageFiles } from '../files/MessageFiles.tsx';
import styles from './MessageContent.module.css';
import { MessageText } from './MessageText.tsx';
import { contentPreview } from './preview.ts';

interface MessageContentProps {
  message: MessageView;
  own: boolean;
  /** True for one emoji alone. */
  large: boolean;
  unfolded: boolean;
  /** True if the Tab key reaches its controls. */
  reachable: boolean;
  onUnfold: (messageId: string, unfolded: boolean) => void;
}

/** The inside of a bubble: a text, or the sentence that stands in its place. */
export function MessageContent({ message, own, large, unfolded, reachable, onUnfold }: MessageContentProps) {
  const { content, messageId } = message;
  if (content.kind === 'undecryptable') return <Undecryptable reason={content.reason} />;
  if (content.kind === 'files') {
    return (
      <>
        <MessageFiles open message={message} reachable={reachable} />
        {content.text !== '' && (
          <MessageText
            words={content}
            unfolded={unfolded}
            onUnfold={(unfold) => onUnfold(messageId, unfold)}
          />
        )}
      </>
    );
  }
  if (content.kind !== 'text' || content.text.trim() === '') {
    return <p className={styles.muted}>{contentPreview(content, { own })}</p>;
  }
  if (large) return <p className={styles.emoji}>{content.text.trim()}</p>;
  return (
    <MessageText words={content} unfolded={unfolded} onUnfold={(unfold) => onUnfold(messageId, unfold)} />
  );
}

function Undecryptable({ reason }: { reason: UndecryptableReason }) {
  return (
    <div className={styles.notice}>
      <LockKeyhole aria-hidden="true" />
      <span>{t('messages.undecryptable')}</span>
      <div className={styles.details}>
        <Disclosure summary={t('chat.why')}>
          <p>{t(undecryptableTexts[reason])}</p>
          <p>{t(`${undecryptableTexts[reason]}Todo`)}</p>
        </Disclosure>
      </div>
    </div>
  );
}
