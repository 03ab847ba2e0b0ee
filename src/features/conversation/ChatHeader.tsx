import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Avatar } from '../../ui/Avatar.tsx';
import { IconButton } from '../../ui/Button.tsx';
import styles from './ChatHeader.module.css';

interface ChatHeaderProps {
  name: string;
  shape?: 'round' | 'square';
  /** In place of the name's initial. */
  icon?: ReactNode;
  /** Draws a presence dot; say the state in `detail`. */
  online?: boolean | undefined;
  /** Below the name. */
  detail?: ReactNode;
  /** Names the way back to the list on a screen that has room for only one of the two. */
  backLabel: string;
  onBack: () => void;
  /** At the end. */
  action?: ReactNode;
}

/** The bar above an open conversation. */
export function ChatHeader(props: ChatHeaderProps) {
  const { name, shape = 'round' } = props;
  return (
    <div className={styles.head}>
      <span className={styles.back}>
        <IconButton label={props.backLabel} icon={<ArrowLeft />} onClick={props.onBack} />
      </span>
      <span className={styles.avatar}>
        <Avatar name={name} size={38} online={props.online} shape={shape} icon={props.icon} />
      </span>
      <div className={styles.who}>
        <h2 className={styles.name}>
          <bdi>{name}</bdi>
        </h2>
        {props.detail !== undefined && <p className={styles.detail}>{props.detail}</p>}
      </div>
      {props.action}
    </div>
  );
}
