/** Sharing the newest keys with the person's other devices (PROTOCOL section 2). */
import type { CryptoApi } from '../api/cryptoApi.ts';
import { randomUuid } from '../codec/uuid.ts';
import { selfConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { openOutbox } from '../conversation/views.ts';
import { readKeys, type Session } from '../session/session.ts';
import { read } from '../storage/db.ts';
import { readConversation } from '../storage/records.ts';
import { appendToOutbox, newOutboxRecord, putInOutbox, readOutbox } from './outboxRows.ts';
import { keptKeys } from './sharedKeysMessage.ts';

export function createKeySharing(deps: TransactionDeps, session: Session): Pick<CryptoApi, 'shareKeys'> {
  const { env } = deps;
  return {
    async shareKeys() {
      const account = session.accountOnDevice();
      const conversationId = selfConversationId(account.userId);
      const { membership } = await read(account.db, (tx) =>
        readConversation(tx, account.sealer, conversationId),
      );
      if (membership !== 'member') return false;
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const { tx } = transaction;
        const waiting = await retryWaiting(transaction);
        if (waiting || !(await isDue(transaction))) return waiting;
        const record = newOutboxRecord(keptKeys(null), new Date(env.now()).toISOString());
        await appendToOutbox(tx, account, conversationId, randomUuid(env), record);
        return true;
      });
    },
  };
}

/** Returns whether the other devices may lack keys that this one has. */
async function isDue(transaction: ConversationTransaction): Promise<boolean> {
  const { account, conversation, tx } = transaction;
  const { statements } = await readKeys(tx, account);
  if (!statements.some(({ revision }) => revision > conversation.saidRevision)) return false;
  const members = (await transaction.members()) ?? [];
  return members.some(({ deviceIds }) => deviceIds.length > 1);
}

/** Has the message go that waits already: it is given the newest keys as it is encrypted. */
async function retryWaiting({ account, conversationId, tx }: ConversationTransaction): Promise<boolean> {
  const [rows, messageIds] = await readOutbox(tx, conversationId);
  for (const [i, row] of rows.entries()) {
    const messageId = messageIds[i];
    if (messageId === undefined) continue;
    const record = openOutbox(account, messageId, row);
    if (record.status === 'failed') {
      await putInOutbox(tx, account, messageId, row, { ...record, status: 'sending', failure: null });
    }
  }
  return rows.length > 0;
}
