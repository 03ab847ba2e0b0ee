/** The sender's clock beside the relay's: which of the two is shown (PROTOCOL section 10). */
import type { LogEntryInput } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import { withinConversation } from '../storage/db.ts';
import type { ConversationTransaction } from './conversationTransaction.ts';
import { areClocksClose, openMessage } from './views.ts';

/**
 * Returns whether the time that a sender says is not to be shown as the message's: it is far from the relay's, or before
 * what the same device has said last. Notes the time where it is.
 * @param sentAt milliseconds since the Unix epoch
 */
export async function isClockOff(
  transaction: ConversationTransaction,
  entry: Pick<LogEntryInput, 'sender_device_id' | 'timestamp'>,
  sentAt: number,
): Promise<boolean> {
  const { conversation } = transaction;
  if (!areClocksClose(sentAt, Date.parse(entry.timestamp))) return true;
  // Mostly it is the latest time of all, so that nobody's last one has to be looked for.
  if (sentAt < conversation.latestSentAt) {
    const last = await lastSentAt(transaction, entry.sender_device_id);
    return last !== null && sentAt < last;
  }
  conversation.latestSentAt = sentAt;
  return false;
}

/** The last time of a device that was believed, among the newest messages. */
async function lastSentAt(
  { account, conversationId, tx }: ConversationTransaction,
  deviceId: string,
): Promise<number | null> {
  let cursor = await tx.objectStore('messages').openCursor(withinConversation(conversationId), 'prev');
  for (let looked = 0; cursor !== null && looked < limits.clocksLookedAt; looked++) {
    const record = openMessage(account, conversationId, cursor.key[1], cursor.value);
    if (record.senderDeviceId === deviceId && record.sentAt !== null && !record.isClockOff)
      return record.sentAt;
    cursor = await cursor.continue();
  }
  return null;
}
