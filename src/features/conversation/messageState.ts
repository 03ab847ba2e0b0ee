import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';

export type MessageState = 'sending' | 'sent' | 'read' | 'failed' | 'received';

/** Returns a message's state as its reader sees it. */
export function messageState(
  { status }: MessageView,
  { own, read }: { own: boolean; read: boolean },
): MessageState {
  if (!own) return 'received';
  if (status === 'sending' || status === 'failed') return status;
  return read ? 'read' : 'sent';
}

const texts = {
  sending: 'chat.sending',
  failed: 'chat.notSent',
  read: 'chat.read',
  sent: 'chat.sent',
  received: 'chat.received',
} as const satisfies Record<MessageState, MessageId>;

export function stateText(state: MessageState): string {
  return t(texts[state]);
}
