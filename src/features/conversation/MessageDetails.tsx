import { onDemand } from '../../ui/onDemand.tsx';

/** A dialog with a message's author, times and state, and what speaks for it. */
export const MessageDetails = onDemand(
  async () => (await import('./MessageDetailsDialog.tsx')).MessageDetailsDialog,
);
