/** Reading one message of the log, of another device or of this one, and its sender's clock (PROTOCOL section 10). */
import type { ChainHeader } from '@sinetti/crypto-core/content';
import type { LogEntryInput, UndecryptableReason } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { areClocksClose, openMessage, openOutbox } from '../conversation/messageView.ts';
import { type OutboxRow, withinConversation } from '../storage/db.ts';
import { ownEnd } from '../storage/payload.ts';
import type { ConversationRecord, MessageRecord } from '../storage/records.ts';
import { codeOf, decryptEntry, isEmptied, reasonOf, received, refusal } from './logEntries.ts';
import { hasContent } from './missed.ts';
import { hasSaid } from './ownStateMessage.ts';

/** A message as it is kept, and the header of another device's that could be read. */
interface ReadMessage {
  readonly header: ChainHeader | null;
  readonly record: MessageRecord;
  /** This device's leaf has sent it from another place, where its data is used (PROTOCOL section 3). */
  readonly isCopied: boolean;
}

/** Decrypts a message and judges its clock, or says why it can't be read, which stops nothing after it. */
export async function readMessage(
  transaction: ConversationTransaction,
  entry: LogEntryInput,
): Promise<ReadMessage> {
  const read = await decrypt(transaction, entry);
  const { own, payload, senderId, sentAt } = read.record;
  const isOfOtherDevice = senderId === transaction.account.userId && !own && payload !== null;
  // It was written before this browser, or the one it is a copy of, became another device: it waits here too.
  if (isOfOtherDevice && (await rowInOutbox(transaction, entry)) !== null)
    await transaction.tx.objectStore('outbox').delete(entry.id);
  const isOff = sentAt !== null && (await isClockOff(transaction, entry, sentAt));
  return { ...read, record: { ...read.record, isClockOff: isOff } };
}

async function decrypt(transaction: ConversationTransaction, entry: LogEntryInput): Promise<ReadMessage> {
  const { account, conversation } = transaction;
  const isWaiting = isEmptied(entry) && (await rowInOutbox(transaction, entry)) !== null;
  if (isEmptied(entry) && !isWaiting) return unread(refusal(entry, 'deleted'));
  if (entry.sender_device_id === account.device.deviceId) {
    return entry.sender_id === account.userId
      ? takeFromOutbox(transaction, entry)
      : unread(refusal(entry, 'rules'));
  }
  const state = conversation.membership === 'member' ? await transaction.state() : null;
  if (state === null) {
    return unread(
      refusal(entry, conversation.membership === 'none' ? 'before-join' : reasonOfFork(conversation)),
    );
  }
  try {
    const { header, payload } = decryptEntry(state, entry, conversation.epoch);
    state.accept();
    return { header, record: received(entry, payload, header?.sentAt ?? null), isCopied: false };
  } catch (error) {
    state.revert();
    // Sender data proves nothing of an entry under another name: every member can write it, or send this device's
    // ciphertext once more.
    const reason = reasonOf(error);
    if (reason === 'storage-erased') transaction.fork(reason);
    return unread(refusal(entry, reason));
  }
}

/** Messages behind a deleted commit are counted, unless one of this device waits in the outbox for its entry. */
function reasonOfFork({ forkReason }: Pick<ConversationRecord, 'forkReason'>): UndecryptableReason {
  return forkReason === 'expired' ? 'deleted' : forkReason;
}

function unread(record: MessageRecord, isCopied = false): ReadMessage {
  return { header: null, record, isCopied };
}

/** Takes the plaintext of an own message from the outbox, since MLS gives no device the key of its own message. */
async function takeFromOutbox(
  transaction: ConversationTransaction,
  entry: LogEntryInput,
): Promise<ReadMessage> {
  const { account, chain, tx } = transaction;
  const row = await rowInOutbox(transaction, entry);
  if (row === null) {
    const isKept = (await tx.objectStore('messages').index('messageId').getKey(entry.id)) !== undefined;
    const isSeen = isKept || (await hasSaid(transaction, entry.id));
    const isCopied = !isSeen && (await isOfOwnLeaf(transaction, entry));
    return unread(refusal(entry, isSeen ? 'damaged' : 'storage-erased', true), isCopied);
  }
  const waiting = openOutbox(account, entry.id, row);
  const { ciphertext, expired, headerAt, payload, sentAt } = waiting;
  await tx.objectStore('outbox').delete(entry.id);
  const unaltered = ciphertext !== null && hasContent(transaction.conversationId, entry, ciphertext);
  // Another place may have the message too, and have encrypted it under the same keys.
  if (!unaltered) return unread(refusal(entry, 'damaged', true), await isOfOwnLeaf(transaction, entry));
  if (headerAt === 0) chain.ownHeaderless(entry);
  const clock = headerAt === null ? null : Date.parse(sentAt);
  const record: MessageRecord = { ...received(entry, payload, clock), own: true };
  if (expired === null) return unread({ ...record, expiresAt: ownEnd(waiting, account.now()) });
  const erased = { id: expired, of: null, isShown: false, how: 'expired' as const };
  return unread({ ...record, payload: null, erased });
}

/** Returns the row of the message that an entry holds; null where none of this conversation waits under its id. */
async function rowInOutbox(
  { conversationId, tx }: ConversationTransaction,
  { id }: Pick<LogEntryInput, 'id'>,
): Promise<OutboxRow | null> {
  const row = await tx.objectStore('outbox').get(id);
  return row?.conversationId === conversationId ? row : null;
}

/** Returns whether the sender data of an entry opens in this epoch and names this device's leaf. */
async function isOfOwnLeaf(transaction: ConversationTransaction, entry: LogEntryInput): Promise<boolean> {
  const { conversation } = transaction;
  const state = conversation.membership === 'member' ? await transaction.state() : null;
  if (state === null) return false;
  try {
    decryptEntry(state, entry, conversation.epoch);
    return false;
  } catch (error) {
    return codeOf(error) === 'own-message';
  } finally {
    state.revert();
  }
}

/**
 * Returns whether the time that a sender says is not to be shown as the message's: it is far from the relay's, or before
 * what the same device has said last. Notes the time where it is.
 * @param sentAt milliseconds since the Unix epoch
 */
async function isClockOff(
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
