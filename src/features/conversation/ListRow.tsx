import { clsx } from 'clsx';
import { BellOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { Badge } from '../../ui/Badge.tsx';
import type { RowControls } from '../../ui/VirtualList.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './ListRow.module.css';

/** Pixels of a row, until it is measured. */
export const listRowHeight = 70;

interface ListRowProps extends RowControls {
  name: string;
  shape?: 'round' | 'square';
  /** In place of the name's initial. */
  icon?: ReactNode;
  /** Draws a presence dot; say the state in `aside`. */
  online?: boolean | undefined;
  /** Right after the name. */
  mark?: ReactNode;
  /** At the other end of the name's line. */
  aside?: ReactNode;
  /** Below the name. */
  detail: ReactNode;
  /** At the end of the line below the name, while nothing is unread. */
  time?: ReactNode;
  unread: number;
  muted?: boolean;
  /** True for the open conversation. */
  current: boolean;
  onOpen: () => void;
}

/** A conversation in a list of them. */
export function ListRow(props: ListRowProps) {
  const { name, unread } = props;
  return (
    <button
      type="button"
      tabIndex={props.tabIndex}
      className={clsx(styles.row, unread > 0 && !props.muted && styles.unread)}
      aria-current={props.current ? 'true' : undefined}
      onClick={props.onOpen}
    >
      <Avatar name={name} size={44} online={props.online} shape={props.shape ?? 'round'} icon={props.icon} />
      <span className={styles.body}>
        <span className={styles.line}>
          <span className={styles.who}>
            <bdi className={styles.name}>{name}</bdi>
            {props.mark}
            {props.muted && (
              <>
                <BellOff size={14} aria-hidden="true" />
                <VisuallyHidden> {t('messages.muted')}</VisuallyHidden>
              </>
            )}
          </span>
          <span className={styles.aside}>{props.aside}</span>
        </span>
        <span className={styles.line}>
          <span className={styles.detail}>{props.detail}</span>
          {unread > 0 ? (
            <Badge count={unread} meaning={t('messages.unread', { count: unread })} quiet={props.muted} />
          ) : (
            <span className={styles.aside}>{props.time}</span>
          )}
        </span>
      </span>
    </button>
  );
}
