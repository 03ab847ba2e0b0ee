import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { ConfirmDialogPopup } from '../../ui/ConfirmDialogPopup.tsx';
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
  const both = abilities.deleteForEveryone && abilities.deleteHere;
  const choose = (onChosen: (message: MessageView) => void) => () => {
    onClose();
    onChosen(message);
  };
  const here = {
    label: t(isNote ? 'chat.deleteHere' : 'chat.deleteForMe'),
    onChosen: choose(props.onHere),
  };
  const everywhere = {
    label: t(isNote ? 'chat.deleteEverywhere' : 'chat.deleteForEveryone'),
    onChosen: choose(props.onEveryone),
  };
  const answer = abilities.deleteForEveryone ? everywhere : here;
  return (
    <ConfirmDialogPopup
      open={open}
      onOpenChange={onClose}
      title={t('chat.deleteQuestion')}
      confirmLabel={answer.label}
      onConfirm={answer.onChosen}
      alternative={both ? here : null}
      returnFocusTo={props.returnFocus}
    >
      {abilities.deleteForEveryone && !isNote && <p>{t('chat.deleteHintEveryone')}</p>}
      {abilities.deleteHere && !isNote && (
        <p>{t(both ? 'chat.deleteHintHere' : 'chat.deleteHintOnlyHere')}</p>
      )}
    </ConfirmDialogPopup>
  );
}
