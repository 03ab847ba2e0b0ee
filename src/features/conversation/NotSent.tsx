import { t } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import styles from './NotSent.module.css';

interface NotSentProps {
  text: string;
  /** Its own id: a message's, or that of a change. */
  messageId: string;
  onRetry: (messageId: string) => void;
  onDiscard: (messageId: string) => void;
}

/** Says below a bubble that it, or a change of it, was not sent, and offers to try again. */
export function NotSent({ text, messageId, onRetry, onDiscard }: NotSentProps) {
  return (
    <div className={styles.failure}>
      <span>{text}</span>
      <Button size="small" variant="quiet" onClick={() => onRetry(messageId)}>
        {t('chat.retry')}
      </Button>
      <Button size="small" variant="quiet" onClick={() => onDiscard(messageId)}>
        {t('chat.discard')}
      </Button>
    </div>
  );
}
