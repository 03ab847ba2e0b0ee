import { onDemand } from '../../ui/onDemand.tsx';

/** The menu of a message's actions: one for all messages, as only one is open at a time. */
export const MessageMenu = onDemand(async () => (await import('./MessageMenuPopup.tsx')).MessageMenuPopup);
