import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useRef } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { Button, buttonClass } from '../../ui/Button.tsx';
import styles from '../../ui/ConfirmDialog.module.css';
import type { Abilities } from './abilities.ts';

interface DeleteMessageProps {
  open: boolean;
  message: MessageView;
  abilities: Abilities;
  /** Own browsers alone have it. */
  isNote: boolean;
  onClose: () => void;
  onEveryone: (message: MessageView) => void;
  onHere: (message: MessageView) => void;
  returnFocus: () => HTMLElement | null;
}

/** Asks for whom a message is deleted. Focus starts on Cancel; Escape cancels. */
export function DeleteMessageDialog(props: DeleteMessageProps) {
  const { open, message, abilities, isNote, onClose } = props;
  const cancel = useRef<HTMLButtonElement>(null);
  const both = abilities.deleteForEveryone && abilities.deleteHere;
  const choose = (onChosen: (message: MessageView) => void) => () => {
    onClose();
    onChosen(message);
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={onClose}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup
          className={styles.popup}
          initialFocus={cancel}
          finalFocus={() => props.returnFocus() ?? true}
        >
          <AlertDialog.Title className={styles.title}>{t('chat.deleteQuestion')}</AlertDialog.Title>
          <AlertDialog.Description className={styles.description} render={<div />}>
            {abilities.deleteForEveryone && !isNote && <p>{t('chat.deleteHintEveryone')}</p>}
            {abilities.deleteHere && !isNote && (
              <p>{t(both ? 'chat.deleteHintHere' : 'chat.deleteHintOnlyHere')}</p>
            )}
          </AlertDialog.Description>
          <div className={styles.actions}>
            <AlertDialog.Close ref={cancel} className={buttonClass({})}>
              {t('app.cancel')}
            </AlertDialog.Close>
            {abilities.deleteHere && (
              <Button variant={both ? 'secondary' : 'danger'} onClick={choose(props.onHere)}>
                {t(isNote ? 'chat.deleteHere' : 'chat.deleteForMe')}
              </Button>
            )}
            {abilities.deleteForEveryone && (
              <Button variant="danger" onClick={choose(props.onEveryone)}>
                {t(isNote ? 'chat.deleteEverywhere' : 'chat.deleteForEveryone')}
              </Button>
            )}
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
