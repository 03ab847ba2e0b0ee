import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';

/** The states of an own message that receipts of others can show. */
export type ReceiptState = 'delivered' | 'read';
export type MessageState = 'sending' | 'sent' | ReceiptState | 'failed' | 'received';

/** Returns a message's state as its reader sees it. */
export function messageState(
  { status }: MessageView,
  { own, receipt }: { own: boolean; receipt: ReceiptState | null },
): MessageState {
  if (!own) return 'received';
  if (status === 'sending' || status === 'failed') return status;
  return receipt ?? 'sent';
}

/** Returns what a person's receipt says of the message at a position. */
export function receiptAt(
  seq: number | null,
  receipt: { readonly deliveredSeq: number; readonly readSeq: number } | undefined,
): ReceiptState | null {
  if (seq === null || receipt === undefined || seq > receipt.deliveredSeq) return null;
  return seq <= receipt.readSeq ? 'read' : 'delivered';
}

const texts = {
  sending: 'chat.sending',
  failed: 'chat.notSent',
  delivered: 'chat.delivered',
  read: 'chat.read',
  sent: 'chat.sent',
  received: 'chat.received',
} as const satisfies Record<MessageState, MessageId>;

export function stateText(state: MessageState): string {
  return t(texts[state]);
}
