import { Menu } from '@base-ui/react/menu';
import { Copy, Info } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import styles from '../../ui/Menu.module.css';
import type { MenuAnchor } from './MessageBubble.tsx';

interface MessageMenuProps {
  open: boolean;
  message: MessageView;
  /** The place at which it opens. */
  anchor: MenuAnchor;
  onClose: () => void;
  /** Returns the element that gets the focus when the menu closes. */
  returnFocus: () => HTMLElement | null;
  onCopy: (text: string) => void;
  onDetails: (message: MessageView) => void;
}

export function MessageMenuPopup(props: MessageMenuProps) {
  const { open, message, anchor, onClose, onCopy, onDetails } = props;
  const text = message.content.kind === 'text' ? message.content.text : '';
  return (
    <Menu.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <Menu.Portal>
        <Menu.Positioner
          className={styles.positioner}
          anchor={anchor}
          align="start"
          sideOffset={4}
          collisionPadding={8}
        >
          <Menu.Popup className={styles.popup} aria-label={t('chat.actions')} finalFocus={props.returnFocus}>
            {text.trim() !== '' && (
              <Menu.Item className={styles.item} onClick={() => onCopy(text)}>
                <Copy />
                {t('chat.copyText')}
              </Menu.Item>
            )}
            <Menu.Item className={styles.item} onClick={() => onDetails(message)}>
              <Info />
              {t('chat.detailsTitle')}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
