import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { clsx } from 'clsx';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../i18n/i18n.ts';
import { iconButtonClass } from './Button.tsx';
import styles from './Dialog.module.css';

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  /** Takes the width that the window has, for pictures. */
  wide?: boolean;
  /** Returns false where something else takes the focus as it closes. */
  returnsFocus?: () => boolean;
  /** It is closed. */
  onClosed?: () => void;
  children: ReactNode;
}

export function DialogPopup(props: DialogProps) {
  const { open, onOpenChange, title, wide = false, onClosed, returnsFocus, children } = props;
  return (
    <BaseDialog.Root
      open={open}
      onOpenChange={(next) => onOpenChange(next)}
      onOpenChangeComplete={(isOpen) => {
        if (!isOpen) onClosed?.();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup
          className={clsx(styles.popup, wide && styles.wide)}
          finalFocus={() => returnsFocus?.() ?? true}
        >
          <div className={styles.head}>
            <BaseDialog.Title className={styles.title}>{title}</BaseDialog.Title>
            <BaseDialog.Close className={iconButtonClass} aria-label={t('app.close')} title={t('app.close')}>
              <X aria-hidden="true" />
            </BaseDialog.Close>
          </div>
          <div className={styles.body}>{children}</div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
