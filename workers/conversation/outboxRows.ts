/** The rows of the outbox: a message each, in the order of writing. */
import type { UnlockedAccount } from '../session/session.ts';
import {
  type OutboxRow,
  type Transaction,
  type WriteTransaction,
  withinConversation,
} from '../storage/db.ts';
import type { OutboxRecord } from '../storage/records.ts';
import { openOutbox } from './messageView.ts';
import type { TransactionScope } from './transactionScope.ts';

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

/** A message that waits in the outbox, or was discarded there. */
export interface OutboxEntry {
  readonly messageId: string;
  readonly row: OutboxRow;
  readonly record: OutboxRecord;
}

/** Reads the outbox of a conversation, or all of it, in the order of writing. */
export async function readOutbox(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string | null,
): Promise<OutboxEntry[]> {
  const outbox = tx.objectStore('outbox');
  const index = conversationId === null ? outbox.index('order') : outbox.index('conversation');
  const range = conversationId === null ? null : withinConversation(conversationId);
  const [rows, messageIds] = await Promise.all([index.getAll(range), index.getAllKeys(range)]);
  return rows.flatMap((row, at) => {
    const messageId = messageIds[at];
    return messageId === undefined ? [] : [{ messageId, row, record: openOutbox(account, messageId, row) }];
  });
}

/** Deletes discarded messages, whose ciphertext can't reach the log any more in a new epoch. */
export async function forgetDiscarded({ account, conversationId, tx }: TransactionScope): Promise<void> {
  for (const { messageId, record } of await readOutbox(tx, account, conversationId))
    if (record.status === 'discarded') await tx.objectStore('outbox').delete(messageId);
}
