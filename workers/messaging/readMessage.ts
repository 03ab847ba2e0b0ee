/** Reading one message of the log, of another device or of this one. */
import type { ChainHeader } from '@sinetti/crypto-core';
import type { LogEntryInput } from '../api/cryptoApi.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { openOutbox } from '../conversation/views.ts';
import type { MessageRecord } from '../storage/records.ts';
import { decryptEntry, reasonOf, received, refusal } from './logEntries.ts';

/** A message as it is kept, and the header of another device's that could be read. */
interface ReadMessage {
  readonly header: ChainHeader | null;
  readonly record: MessageRecord;
}

/** Decrypts a message, or says why it can't be read, which stops nothing after it. */
export async function readMessage(
  transaction: ConversationTransaction,
  entry: LogEntryInput,
): Promise<ReadMessage> {
  const { account, conversation } = transaction;
  if (entry.content === '' && entry.digest) return unread(refusal(entry, 'deleted'));
  if (entry.sender_device_id === account.device.deviceId) {
    return unread(
      entry.sender_id === account.userId ? await takeFromOutbox(transaction, entry) : refusal(entry, 'rules'),
    );
  }
  const state = conversation.membership === 'member' ? await transaction.state() : null;
  if (state === null) {
    return unread(
      refusal(entry, conversation.membership === 'none' ? 'before-join' : conversation.forkReason),
    );
  }
  try {
    const { header, payload } = decryptEntry(state, entry, conversation.epoch);
    state.accept();
    return { header, record: received(entry, payload, header?.sentAt ?? null) };
  } catch (error) {
    state.revert();
    const reason = reasonOf(error);
    if (reason === 'storage-erased') transaction.fork(reason);
    return unread(refusal(entry, reason));
  }
}

function unread(record: MessageRecord): ReadMessage {
  return { header: null, record };
}

/** Takes the plaintext of an own message from the outbox, since MLS gives no device the key of its own message. */
async function takeFromOutbox(
  { account, chain, conversationId, tx }: ConversationTransaction,
  entry: LogEntryInput,
): Promise<MessageRecord> {
  const row = await tx.objectStore('outbox').get(entry.id);
  if (row === undefined || row.conversationId !== conversationId) {
    const seen = await tx.objectStore('messages').index('messageId').getKey(entry.id);
    return refusal(entry, seen === undefined ? 'storage-erased' : 'damaged', true);
  }
  const { ciphertext, headerAt, payload, sentAt } = openOutbox(account, entry.id, row);
  await tx.objectStore('outbox').delete(entry.id);
  const unaltered = ciphertext !== null && toBase64Url(ciphertext) === entry.content;
  if (!unaltered) return refusal(entry, 'damaged', true);
  if (headerAt === 0) chain.ownHeaderless(entry);
  const clock = headerAt === null ? null : Date.parse(sentAt);
  return { ...received(entry, payload, clock), own: true };
}
