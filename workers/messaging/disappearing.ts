/** Messages that disappear: the timer that members agree on, and the end of those that were read (PROTOCOL section 4). */
import { ConversationId, check, Ids, Timer } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { followClock } from '../conversation/clockSetBack.ts';
import type { TransactionDeps } from '../conversation/conversationTransaction.ts';
import { MessageKeeper } from '../conversation/messageKeeper.ts';
import { putInOutbox, readOutbox } from '../conversation/outboxRows.ts';
import { findMessage } from '../conversation/views.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import { UNREAD, type WriteTransaction, write } from '../storage/db.ts';
import { contentIdOf, ownEnd } from '../storage/payload.ts';
import { agreeOn } from './agreeing.ts';

export function createDisappearing(deps: TransactionDeps, session: Session) {
  return {
    async setTimer(id, given) {
      const conversationId = check('setTimer', ConversationId, id);
      const seconds = check('setTimer', Timer, given);
      return agreeOn(session, deps, conversationId, async ({ conversation }) =>
        conversation.timer === seconds ? null : { timer: seconds },
      );
    },

    async expireMessages(given) {
      const shown = check('expireMessages', Ids, given);
      const account = session.account();
      return write(account.db, 'relaxed', async (tx) => {
        await followClock(tx, account);
        const now = account.now();
        const index = tx.objectStore('messages').index('expires');
        for (const [conversationId, seq] of await index.getAllKeys(IDBKeyRange.upperBound([now, []]))) {
          const keeper = new MessageKeeper(tx, account, conversationId);
          const logged = await keeper.views.at(seq);
          // An edit may have gone with its message.
          if (logged?.record.erased === null) await keeper.expire(logged);
        }
        const { ends, ids } = await eraseWaiting(tx, account, now);
        const gone: string[] = [];
        for (const id of shown)
          if (!ids.has(id) && (await findMessage(tx, account, id)) === null) gone.push(id);
        const [first = UNREAD] = (await index.openKeyCursor())?.key ?? [];
        const next = Math.min(first, ...ends);
        return { gone, nextIn: next === UNREAD ? null : Math.max(0, next - now) };
      });
    },
  } satisfies Partial<CryptoApi>;
}

/**
 * Erases what the relay has taken, and what is over before the log has shown it.
 * @returns the ids of what is left, and when those of it that were taken are over
 */
async function eraseWaiting(tx: WriteTransaction, account: UnlockedAccount, now: number) {
  const ids = new Set<string>();
  const ends: number[] = [];
  for (const { messageId, record, row } of await readOutbox(tx, account, null)) {
    const { payload, status } = record;
    const end = status === 'sent' && record.acceptedAt !== null ? ownEnd(record, now) : null;
    if (status !== 'discarded') ids.add(messageId);
    if (end !== null && end > now) ends.push(end);
    if (end === null || end > now) continue;
    ids.delete(messageId);
    const at = { conversationId: row.conversationId, messageId, senderId: account.userId };
    const gone = { ...record, status: 'discarded', payload: '', expired: contentIdOf(payload, at) } as const;
    await putInOutbox(tx, account, messageId, row, gone);
  }
  return { ends, ids };
}
