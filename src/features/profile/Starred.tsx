import { useAtomValue, useSetAtom } from 'jotai';
import { Star } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { type ConversationKey, soughtAtom } from '../../store/chats.ts';
import { conversationNameAtom } from '../../store/conversationNames.ts';
import { ownOrOtherNameAtom } from '../../store/mentions.ts';
import { messageTime } from '../../store/messageTime.ts';
import { currentUserAtom } from '../../store/session.ts';
import { type StarredMessage, useStars } from '../../store/stars.ts';
import { Card, CardBody } from '../../ui/Card.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { contentPreview } from '../conversation/preview.ts';
import styles from './Starred.module.css';

export interface StarredProps {
  id: string;
  /** Opens a conversation. */
  onOpenConversation: (key: ConversationKey) => void;
}

/** The starred messages, each a way to its place. */
export function Starred({ id, onOpenConversation }: StarredProps) {
  const stars = useStars();
  const seek = useSetAtom(soughtAtom);
  return (
    <Card id={id} title={t('stars.title')} icon={<Star size={18} />} description={t('stars.hint')}>
      <CardBody>
        {stars.length === 0 && <p>{t('stars.none')}</p>}
        <ul className={styles.list}>
          {stars.map(({ key, message }) => (
            <li key={message.messageId}>
              <Entry
                conversationKey={key}
                message={message}
                onOpen={() => {
                  seek({ key, messageId: message.messageId });
                  onOpenConversation(key);
                }}
              />
            </li>
          ))}
        </ul>
      </CardBody>
    </Card>
  );
}

interface EntryProps extends Pick<StarredMessage, 'message'> {
  conversationKey: ConversationKey;
  onOpen: () => void;
}

function Entry({ conversationKey, message, onOpen }: EntryProps) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const titleOf = useAtomValue(conversationNameAtom);
  const { content, senderId } = message;
  const own = senderId === ownId;
  const { shown } = messageTime(message);
  return (
    <button type="button" className={styles.entry} onClick={onOpen}>
      <span className={styles.where}>
        <bdi>{own ? t('chat.you') : nameOf(senderId)}</bdi> · <bdi>{titleOf(conversationKey)}</bdi> ·{' '}
        <time dateTime={shown}>{fullTimestamp(shown)}</time>
      </span>
      <span className={styles.words}>
        <bdi>{contentPreview(content, { own, nameOf })}</bdi>
      </span>
    </button>
  );
}
