import type { ReactNode } from 'react';
import { onDemand } from './onDemand.tsx';

export interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  children: ReactNode;
}

/** Something above the page. Focus goes in and comes back; Escape, the cross and a click outside close it. */
export const Dialog = onDemand<DialogProps>(async () => (await import('./DialogPopup.tsx')).DialogPopup);
