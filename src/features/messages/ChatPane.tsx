import { useAtomValue } from 'jotai';
import { ArrowLeft, MessagesSquare } from 'lucide-react';
import { Avatar } from '../../ui/Avatar.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { presenceText } from '../../ui/Presence.tsx';
import { openChatAtom } from './atoms.ts';
import { Chat } from './Chat.tsx';
import styles from './ChatPane.module.css';
import { messageTexts } from './texts.ts';

interface ChatPaneProps {
  /** Each new positive number moves the focus to the input. */
  focusRequest: number;
  onClose: () => void;
}

export function ChatPane({ focusRequest, onClose }: ChatPaneProps) {
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
      <Chat key={userId} userId={userId} name={name} chat={chat} focusRequest={focusRequest} />
    </section>
  );
}
