/** The rows of the outbox: a message each, in the order of writing. */
import type { UnlockedAccount } from '../session/session.ts';
import {
  type OutboxRow,
  type Transaction,
  type WriteTransaction,
  withinConversation,
} from '../storage/db.ts';
import type { OutboxRecord } from '../storage/records.ts';

export function newOutboxRecord(payload: string, sentAt: string): OutboxRecord {
  return {
    status: 'sending',
    failure: null,
    payload,
    sentAt,
    epoch: null,
    ciphertext: null,
    seq: null,
    timestamp: null,
    acceptedAt: null,
    headerAt: null,
    expired: null,
  };
}

export async function putInOutbox(
  tx: WriteTransaction,
  account: UnlockedAccount,
  messageId: string,
  { conversationId, order }: Pick<OutboxRow, 'conversationId' | 'order'>,
  record: OutboxRecord,
): Promise<void> {
  const sealed = account.sealer.seal('outbox', messageId, record);
  await tx.objectStore('outbox').put({ conversationId, order, sealed }, messageId);
}

/** Returns the place after all that were written before. */
export async function nextOrder(tx: Transaction): Promise<number> {
  const last = await tx.objectStore('outbox').index('order').openKeyCursor(null, 'prev');
  return last === null ? 1 : last.key + 1;
}

/** Reads the rows of a conversation, or all, with their message ids, in the order of writing. */
export async function readOutbox(
  tx: Transaction,
  conversationId: string | null,
): Promise<[OutboxRow[], string[]]> {
  const outbox = tx.objectStore('outbox');
  const index = conversationId === null ? outbox.index('order') : outbox.index('conversation');
  const range = conversationId === null ? null : withinConversation(conversationId);
  return Promise.all([index.getAll(range), index.getAllKeys(range)]);
}
