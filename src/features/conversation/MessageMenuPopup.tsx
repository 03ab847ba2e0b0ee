import { Menu } from '@base-ui/react/menu';
import { Copy, Info } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import styles from '../../ui/Menu.module.css';
import type { MessageMenuProps } from './MessageMenu.tsx';

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
