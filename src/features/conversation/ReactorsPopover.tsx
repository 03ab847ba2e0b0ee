import { Popover } from '@base-ui/react/popover';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import type { MenuAnchor } from './menuAnchor.ts';
import styles from './ReactorsPopover.module.css';

interface ReactorsProps {
  open: boolean;
  message: MessageView;
  /** Says "You" of the person. */
  nameOf: (userId: string) => string;
  anchor: MenuAnchor;
  onClose: () => void;
  returnFocus: () => HTMLElement | null;
}

/** All reactions to a message with who gave them. */
export function ReactorsPopover({ open, message, nameOf, anchor, onClose, returnFocus }: ReactorsProps) {
  return (
    <Popover.Root open={open} onOpenChange={onClose}>
      <Popover.Portal>
        <Popover.Positioner
          className={styles.positioner}
          anchor={anchor}
          align="start"
          sideOffset={6}
          collisionPadding={8}
        >
          <Popover.Popup className={styles.popup} finalFocus={returnFocus}>
            <Popover.Title className={styles.title}>{t('chat.reactions')}</Popover.Title>
            <ul className={styles.list}>
              {(message.reactions ?? []).map(({ emoji, userIds }) => (
                <li key={emoji} className={styles.reaction}>
                  <span className={styles.emoji}>{emoji}</span>
                  <ul>
                    {userIds.map((userId) => (
                      <li key={userId}>
                        <bdi>{nameOf(userId)}</bdi>
                      </li>
                    ))}
                  </ul>
                </li>
              ))}
            </ul>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
