import type { CryptoApi, MessageView } from '../../crypto/client.ts';

/** Returns the messages of a conversation that the log has not returned yet, oldest first. */
export async function waitingMessages(
  crypto: Pick<CryptoApi, 'outbox'>,
  conversationId: string,
): Promise<MessageView[]> {
  return (await crypto.outbox()).filter((message) => message.conversationId === conversationId);
}

/** Returns a message that the log has not returned yet; undefined for every other. */
export async function waitingMessage(
  crypto: Pick<CryptoApi, 'outbox'>,
  messageId: string,
): Promise<MessageView | undefined> {
  return (await crypto.outbox()).find((message) => message.messageId === messageId);
}
