import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import styles from './MessageDetails.module.css';
import { type MessageState, stateText } from './messageState.ts';

interface MessageDetailsProps {
  message: MessageView;
  author: string;
  state: MessageState;
  open: boolean;
  onClose: () => void;
}

/** A dialog with a message's author, time and state. */
export function MessageDetails({ message, author, state, open, onClose }: MessageDetailsProps) {
  return (
    <Dialog open={open} onOpenChange={onClose} title={t('chat.detailsTitle')}>
      <dl className={styles.facts}>
        <dt>{t('chat.detailsAuthor')}</dt>
        <dd>
          <bdi>{author}</bdi>
        </dd>
        <dt>{t('chat.detailsTime')}</dt>
        <dd>
          <time dateTime={message.timestamp}>{fullTimestamp(message.timestamp)}</time>
        </dd>
        <dt>{t('chat.detailsState')}</dt>
        <dd>{stateText(state)}</dd>
      </dl>
    </Dialog>
  );
}
