import type { ConversationState, CryptoApi, MessageView } from '../../crypto/client.ts';
import { isUnseen } from '../core/conversationIds.ts';

const pageSize = 200;

/** A conversation with what is to be exported of it. */
export interface ExportedConversation {
  readonly state: ConversationState;
  /** Messages that the log had not returned when the export began. */
  readonly waiting: readonly MessageView[];
  readonly count: number;
}

export type MessageSource = Pick<CryptoApi, 'conversations' | 'messageCount' | 'messages' | 'outbox'>;

/** Every conversation of this device, the last one that was written in first. */
export async function exportedConversations(crypto: MessageSource): Promise<ExportedConversation[]> {
  // First: what reaches the log meanwhile is then found there, and known by its id.
  const outbox = (await crypto.outbox()).filter((message) => !isUnseen(message));
  const found: ExportedConversation[] = [];
  const lastAt = ({ lastMessage }: ConversationState) => Date.parse(lastMessage?.timestamp ?? '') || 0;
  const states = await crypto.conversations();
  for (const state of states.toSorted((one, other) => lastAt(other) - lastAt(one))) {
    const { conversationId } = state;
    const waiting = outbox.filter((message) => message.conversationId === conversationId);
    const count = (await crypto.messageCount(conversationId)) + waiting.length;
    found.push({ state, waiting, count });
  }
  return found;
}

/** The messages of a conversation from its beginning, page by page, then those that wait; none twice. */
export async function* pagesOf(
  crypto: MessageSource,
  { state, waiting }: ExportedConversation,
): AsyncGenerator<readonly MessageView[]> {
  const left = new Map(waiting.map((message) => [message.messageId, message]));
  let after = 0;
  for (;;) {
    const page = await crypto.messages(state.conversationId, { after, limit: pageSize });
    for (const { messageId } of page) left.delete(messageId);
    if (page.length > 0) yield page;
    const last = page.at(-1)?.seq ?? null;
    if (page.length < pageSize || last === null) break;
    after = last;
  }
  if (left.size > 0) yield [...left.values()];
}
