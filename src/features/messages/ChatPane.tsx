import { useAtomValue } from 'jotai';
import { ArrowLeft, MessagesSquare } from 'lucide-react';
import { Avatar } from '../../ui/Avatar.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { presenceText } from '../../ui/Presence.tsx';
import { openChatAtom } from './atoms.ts';
import styles from './ChatPane.module.css';
import { Composer } from './Composer.tsx';
import { MessageList } from './MessageList.tsx';
import { messageTexts } from './texts.ts';

export function ChatPane({ onClose }: { onClose: () => void }) {
  const open = useAtomValue(openChatAtom);
  if (open === null) {
    return (
      <div className={styles.nothing}>
        <EmptyState icon={<MessagesSquare />}>{messageTexts.nothingOpen}</EmptyState>
      </div>
    );
  }
  const { userId, name, online, chat } = open;
  return (
    <section className={styles.pane} aria-label={`Chat with ${name}`}>
      <div className={styles.head}>
        <span className={styles.back}>
          <IconButton label={messageTexts.back} icon={<ArrowLeft />} onClick={onClose} />
        </span>
        <Avatar name={name} size={38} online={online} />
        <div className={styles.person}>
          <h2 className={styles.name}>
            <bdi>{name}</bdi>
          </h2>
          <p className={styles.presence}>{presenceText(online)}</p>
        </div>
      </div>
      <MessageList key={`list ${userId}`} userId={userId} name={name} chat={chat} />
      <Composer key={`form ${userId}`} userId={userId} name={name} />
    </section>
  );
}
