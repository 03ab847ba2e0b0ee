import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { ConfirmDialogPopup } from '../../ui/ConfirmDialogPopup.tsx';

interface ReplacePinProps {
  open: boolean;
  message: MessageView;
  onClose: () => void;
  onPin: (message: MessageView, isPinned: true) => void;
  returnFocus: () => HTMLElement | null;
}

/** Asks whether a message is to take the place of the one that was pinned first. */
export function ReplacePinDialog({ open, message, onClose, onPin, returnFocus }: ReplacePinProps) {
  return (
    <ConfirmDialogPopup
      open={open}
      onOpenChange={onClose}
      title={t('pinned.replaceTitle')}
      confirmLabel={t('pinned.replace')}
      onConfirm={() => {
        onClose();
        onPin(message, true);
      }}
      returnFocusTo={returnFocus}
    >
      <p>{t('pinned.replaceHint')}</p>
    </ConfirmDialogPopup>
  );
}
