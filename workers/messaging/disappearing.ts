/** Messages that disappear: the timer that members agree on, and the end of those that were read (PROTOCOL section 4). */
import { ConversationId, check, ShownMessages, Timer } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import { inTransaction, type TransactionDeps } from '../conversation/conversationTransaction.ts';
import { MessageKeeper } from '../conversation/messageKeeper.ts';
import { isOver, openOutbox } from '../conversation/messageView.ts';
import { commitAsMember, dueChanges, isDue, pendingSubmission } from '../conversation/ownCommits.ts';
import { findMessage } from '../conversation/views.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import { read, type Transaction, UNREAD, type WriteTransaction, write } from '../storage/db.ts';
import { contentIdOf, readPayload, timerOf } from '../storage/payload.ts';
import { putInOutbox, readOutbox } from './outboxRows.ts';

export function createDisappearing(deps: TransactionDeps, session: Session) {
  return {
    async setTimer(id, given) {
      const conversationId = check('setTimer', ConversationId, id);
      const seconds = check('setTimer', Timer, given);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        const { conversation } = transaction;
        const state = conversation.membership === 'member' ? await transaction.state() : null;
        if (state === null || transaction.isSelf) throw new CryptoApiError('usage', 'no timer here');
        if (conversation.refusal !== null) throw new CryptoApiError('identity-changed');
        const pending = await pendingSubmission(transaction);
        if (pending !== null) return pending;
        // The rules let a commit change the timer alone.
        if (isDue(await dueChanges(transaction, state)))
          return commitAsMember(transaction, state, [], deps.env);
        if (conversation.timer === seconds) return null;
        return commitAsMember(transaction, state, [], deps.env, seconds);
      });
    },

    async expireMessages(given) {
      const shown = check('expireMessages', ShownMessages, given);
      const account = session.account();
      await eraseOver(account);
      return read(account.db, async (tx) => {
        const gone: string[] = [];
        for (const { messageId } of shown)
          if ((await findMessage(tx, account, messageId)) === null) gone.push(messageId);
        const next = await nextTime(tx);
        return { gone, nextIn: next === null ? null : Math.max(0, next - account.now()) };
      });
    },
  } satisfies Partial<CryptoApi>;
}

/** Erases what is over, if anything is: a write would hold up all others. */
async function eraseOver(account: UnlockedAccount): Promise<void> {
  const [next, waiting] = await read(account.db, async (tx) =>
    Promise.all([nextTime(tx), waitingOver(tx, account)]),
  );
  const isDueNow = next !== null && next <= account.now();
  if (!isDueNow && waiting.length === 0) return;
  await write(account.db, 'relaxed', async (tx) => {
    await eraseLogged(tx, account);
    for (const { expired, messageId, row, record } of await waitingOver(tx, account))
      await putInOutbox(tx, account, messageId, row, {
        ...record,
        status: 'discarded',
        payload: '',
        expired,
      });
  });
}

async function eraseLogged(tx: WriteTransaction, account: UnlockedAccount): Promise<void> {
  const index = tx.objectStore('messages').index('expires');
  const keys = await index.getAllKeys(IDBKeyRange.upperBound([account.now(), []]));
  const writes: Promise<unknown>[] = [];
  for (const [conversationId, seq] of keys) {
    const keeper = new MessageKeeper(tx, account, conversationId, (put) => {
      put.catch(() => {});
      writes.push(put);
    });
    const logged = await keeper.views.at(seq);
    // An edit may have gone with its message.
    if (logged !== null && logged.record.erased === null && isOver(account, logged.record))
      await keeper.erase(logged, 'expired');
  }
  await Promise.all(writes);
}

/** Lists the messages that the relay has taken, and that are over before the log has shown them. */
async function waitingOver(tx: Transaction, account: UnlockedAccount) {
  const [rows, ids] = await readOutbox(tx, null);
  return rows.flatMap((row, i) => {
    const messageId = ids[i];
    if (messageId === undefined) return [];
    const record = openOutbox(account, messageId, row);
    if (record.status !== 'sent' || record.timestamp === null) return [];
    const timer = timerOf(readPayload(record.payload));
    const expiresAt = Date.parse(record.timestamp) + timer * 1000;
    if (timer === 0 || expiresAt > account.now()) return [];
    const { conversationId } = row;
    const expired = contentIdOf(record.payload, { conversationId, messageId, senderId: account.userId });
    return [{ messageId, row, record, expired }];
  });
}

/** The time of the message that is over next, in milliseconds since the Unix epoch; null where none has been read. */
async function nextTime(tx: Transaction): Promise<number | null> {
  const first = await tx.objectStore('messages').index('expires').openKeyCursor();
  const at = first?.key[0] ?? UNREAD;
  return at === UNREAD ? null : at;
}
