/** The messages of the own devices' group, whatever they say (PROTOCOL section 2). */
import type { OwnState } from '../api/conversationsApi.ts';
import type { ConversationTransaction } from '../conversation/conversationTransaction.ts';
import { putInOutbox, readOutbox } from '../conversation/outboxRows.ts';
import { isForPeople } from '../storage/payload.ts';
import type { MessageRecord, OutboxRecord } from '../storage/records.ts';
import { typeOf } from './ownPayload.ts';
import { noteSaid, OWN_STATE, ownStateToSay, takeOwnState } from './ownStateMessage.ts';
import { OWN_REVISIONS, revisionsToSay, takeRevisions } from './revisionsMessage.ts';
import { takeSharedKeys, withSharedKeys } from './sharedKeysMessage.ts';

/**
 * Makes the content of a message that is to be encrypted; any other conversation's goes as it is.
 * @returns what is said, and the payload that the outbox keeps; null where there is nothing to say any more
 */
export async function wordingOf(
  transaction: ConversationTransaction,
  payload: string,
): Promise<{ readonly said: string; readonly payload: string } | null> {
  if (!transaction.isSelf || isForPeople(payload)) return { said: payload, payload };
  const type = typeOf(payload);
  if (type === OWN_STATE) return ownStateToSay(transaction);
  if (type !== OWN_REVISIONS) return withSharedKeys(transaction);
  const said = await revisionsToSay(transaction, payload);
  return said === null ? null : { said, payload: said };
}

/**
 * Takes what a message of the own devices' group says. A note is kept as it is, and a change of one, also
 * of a device that is known to be revoked: it stands in the log before the commit that takes that device out, and may be
 * the only one of a browser that is gone. Anything but the known types is refused. Next to nothing else is kept: devices tell
 * each other far more than their person writes, and whoever looks for the notes would have to open all of it.
 * @returns what is kept of the message, null for nothing; and what it tells the page
 */
export async function takeOwnMessage(
  transaction: ConversationTransaction,
  seq: number,
  record: MessageRecord,
): Promise<{ readonly kept: MessageRecord | null; readonly told: OwnState | null }> {
  const { own, payload } = record;
  if (payload !== null && isForPeople(payload)) return { kept: record, told: null };
  // It may have been a note only where it was damaged on its way, or the relay has emptied it without a reason.
  const wasNote = own || record.reason === 'damaged' || record.reason === 'deleted';
  if (payload === null) return { kept: wasNote ? record : null, told: null };
  const taken = await take(transaction, seq, { ...record, payload });
  if (own) await noteSaid(transaction, seq);
  return taken;
}

async function take(
  transaction: ConversationTransaction,
  seq: number,
  record: MessageRecord & { readonly payload: string },
): Promise<{ readonly kept: MessageRecord | null; readonly told: OwnState | null }> {
  const type = typeOf(record.payload);
  if (type === OWN_STATE) return takeOwnState(transaction, seq, record);
  if (type === OWN_REVISIONS) return { kept: await takeRevisions(transaction, seq, record), told: null };
  return { kept: await takeSharedKeys(transaction, record), told: null };
}

/**
 * Has the messages of a type go that wait already: their content is made as they are encrypted.
 * @returns them as they were
 */
export async function retryWaiting(
  { account, conversationId, tx }: ConversationTransaction,
  type: string,
): Promise<OutboxRecord[]> {
  const waiting: OutboxRecord[] = [];
  for (const { messageId, record, row } of await readOutbox(tx, account, conversationId)) {
    if (typeOf(record.payload) !== type) continue;
    waiting.push(record);
    if (record.status === 'failed') {
      await putInOutbox(tx, account, messageId, row, { ...record, status: 'sending', failure: null });
    }
  }
  return waiting;
}
