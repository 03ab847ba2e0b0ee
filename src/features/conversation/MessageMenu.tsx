import type { MessageView } from '../../store/chats.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import type { MenuAnchor } from './MessageBubble.tsx';

export interface MessageMenuProps {
  open: boolean;
  message: MessageView;
  /** Where it opens. */
  anchor: MenuAnchor;
  onClose: () => void;
  /** Where the focus goes when it closes. */
  returnFocus: () => HTMLElement | null;
  onCopy: (text: string) => void;
  onDetails: (message: MessageView) => void;
}

/** What can be done with a message: one menu for all of them, as only one is open at a time. */
export const MessageMenu = onDemand<MessageMenuProps>(
  async () => (await import('./MessageMenuPopup.tsx')).MessageMenuPopup,
);
