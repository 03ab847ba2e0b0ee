import type { MessageView } from '../../store/chats.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import type { MenuAnchor } from './MessageBubble.tsx';

export interface MessageMenuProps {
  open: boolean;
  message: MessageView;
  /** The place at which it opens. */
  anchor: MenuAnchor;
  onClose: () => void;
  /** Returns the element that gets the focus when the menu closes. */
  returnFocus: () => HTMLElement | null;
  onCopy: (text: string) => void;
  onDetails: (message: MessageView) => void;
}

/** The menu of a message's actions: one for all messages, as only one is open at a time. */
export const MessageMenu = onDemand<MessageMenuProps>(
  async () => (await import('./MessageMenuPopup.tsx')).MessageMenuPopup,
);
