import type { ReactNode } from 'react';
import { onDemand } from './onDemand.tsx';

export interface ConfirmDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  confirmLabel: string;
  busy?: boolean;
  onConfirm: () => void;
  /** Where the focus goes when it closes; null for where it came from. */
  returnFocusTo?: () => HTMLElement | null;
}

/** Asks before something that can't be taken back. Focus starts on Cancel; Escape cancels. */
export const ConfirmDialog = onDemand<ConfirmDialogProps>(
  async () => (await import('./ConfirmDialogPopup.tsx')).ConfirmDialogPopup,
);
