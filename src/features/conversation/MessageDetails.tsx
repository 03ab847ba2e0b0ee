import type { MessageView } from '../../store/chats.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import type { MessageState } from './messageState.ts';

export interface MessageDetailsProps {
  message: MessageView;
  author: string;
  /** Undefined while it isn't known. */
  ownId: string | undefined;
  nameOf: (userId: string) => string;
  state: MessageState;
  open: boolean;
  onClose: () => void;
}

/** A dialog with a message's author, times and state, and what speaks for it. */
export const MessageDetails = onDemand<MessageDetailsProps>(
  async () => (await import('./MessageDetailsDialog.tsx')).MessageDetailsDialog,
);
