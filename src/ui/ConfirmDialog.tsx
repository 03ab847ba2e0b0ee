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
  /** Returns the element that gets the focus when the dialog closes; null for the one that had it before. */
  returnFocusTo?: () => HTMLElement | null;
}

/** Asks before an action that can't be undone. Focus starts on Cancel; Escape cancels. */
export const ConfirmDialog = onDemand<ConfirmDialogProps>(
  async () => (await import('./ConfirmDialogPopup.tsx')).ConfirmDialogPopup,
);
