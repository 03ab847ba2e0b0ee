/** Messages that the relay has taken, whose entries in the log are from before this device's time. */
import type { UnlockedAccount } from '../session/session.ts';
import type { OutboxRow, WriteTransaction } from '../storage/db.ts';
import { messageRow } from '../storage/messageRow.ts';
import { ownEnd } from '../storage/payload.ts';
import type { MessageRecord, OutboxRecord } from '../storage/records.ts';
import { MessageKeeper } from './messageKeeper.ts';

/**
 * Moves a message from the outbox to the messages of the log, since no entry of the log will do that, and does what a change
 * says: the text of what was deleted goes. What the log has at its place is never overwritten, whatever place the relay names.
 * @returns whether it was moved
 */
export async function keepSent(
  tx: WriteTransaction,
  account: UnlockedAccount,
  messageId: string,
  row: OutboxRow,
  record: OutboxRecord,
): Promise<boolean> {
  if (record.seq === null || !(await moveToMessages(tx, account, messageId, row, record))) return false;
  const keeper = new MessageKeeper(tx, account, row.conversationId);
  const logged = await keeper.views.at(record.seq);
  if (logged !== null) await keeper.keep(record.seq, messageId, logged.record, null);
  return true;
}

async function moveToMessages(
  tx: WriteTransaction,
  { device, now, sealer, userId }: UnlockedAccount,
  messageId: string,
  { conversationId }: OutboxRow,
  record: OutboxRecord,
): Promise<boolean> {
  const { epoch, payload, sentAt, seq, timestamp } = record;
  if (seq === null) return false;
  const messages = tx.objectStore('messages');
  const there = await messages.get([conversationId, seq]);
  if (there !== undefined && there.messageId !== messageId) return false;
  if (there === undefined) {
    const message: MessageRecord = {
      senderId: userId,
      senderDeviceId: device?.deviceId ?? '',
      timestamp: timestamp ?? sentAt,
      own: true,
      payload,
      reason: null,
      sentAt: null,
      isClockOff: false,
      epoch,
      expiresAt: ownEnd(record, now()),
      erased: null,
    };
    await messages.put(messageRow(sealer, { conversationId, seq, messageId }, message), [
      conversationId,
      seq,
    ]);
  }
  await tx.objectStore('outbox').delete(messageId);
  return true;
}
