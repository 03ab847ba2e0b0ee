import { onDemand } from '../../ui/onDemand.tsx';
import type { MenuAnchor } from './MessageBubble.tsx';
import type { ChatMessage } from './message.ts';

export interface MessageMenuProps {
  open: boolean;
  message: ChatMessage;
  /** Where it opens. */
  anchor: MenuAnchor;
  onClose: () => void;
  /** Where the focus goes when it closes. */
  returnFocus: () => HTMLElement | null;
  onCopy: (text: string) => void;
  onDetails: (message: ChatMessage) => void;
}

/** What can be done with a message: one menu for all of them, as only one is open at a time. */
export const MessageMenu = onDemand<MessageMenuProps>(
  async () => (await import('./MessageMenuPopup.tsx')).MessageMenuPopup,
);
