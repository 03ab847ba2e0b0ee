import { onDemand } from './onDemand.tsx';

/** Asks before an action that can't be undone. Focus starts on Cancel; Escape cancels. */
export const ConfirmDialog = onDemand(
  async () => (await import('./ConfirmDialogPopup.tsx')).ConfirmDialogPopup,
);
