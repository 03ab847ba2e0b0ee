import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactNode, useRef } from 'react';
import { t } from '../i18n/i18n.ts';
import { Button, buttonClass } from './Button.tsx';
import styles from './ConfirmDialog.module.css';

interface ConfirmDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  confirmLabel: string;
  /** Another answer, before that of `confirmLabel`. */
  alternative?: { readonly label: string; readonly onChosen: () => void } | null;
  busy?: boolean;
  onConfirm: () => void;
  /** Returns the element that gets the focus when the dialog closes; null for the one that had it before. */
  returnFocusTo?: () => HTMLElement | null;
}

export function ConfirmDialogPopup({
  open,
  onOpenChange,
  title,
  children,
  confirmLabel,
  alternative = null,
  busy = false,
  onConfirm,
  returnFocusTo,
}: ConfirmDialogProps) {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup
          className={styles.popup}
          initialFocus={cancel}
          finalFocus={() => returnFocusTo?.() ?? true}
        >
          <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={styles.description} render={<div />}>
            {children}
          </AlertDialog.Description>
          <div className={styles.actions}>
            <AlertDialog.Close ref={cancel} className={buttonClass({})} disabled={busy}>
              {t('app.cancel')}
            </AlertDialog.Close>
            {alternative !== null && (
              <Button variant="secondary" onClick={alternative.onChosen}>
                {alternative.label}
              </Button>
            )}
            <Button variant="danger" busy={busy} onClick={onConfirm}>
              {confirmLabel}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
