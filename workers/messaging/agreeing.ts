/** Bringing what the members of a conversation agree on into its log (PROTOCOL section 4). */
import type { CommitSubmission } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { commitAsMember, dueChanges, isDue, pendingSubmission } from '../conversation/ownCommits.ts';
import type { Session } from '../session/session.ts';
import type { Agreed } from '../storage/agreedRecord.ts';

/**
 * Makes the next commit on the way to what is wanted: the pending one, then what is due, then the change itself. Null once the log
 * has it.
 * @param wanted returns the change; null where nothing is to be changed any more
 * @throws CryptoApiError `usage` for a device outside, and among own devices; `identity-changed`
 */
export async function agreeOn(
  session: Session,
  deps: TransactionDeps,
  conversationId: string,
  wanted: (transaction: ConversationTransaction) => Promise<Partial<Agreed> | null>,
): Promise<CommitSubmission | null> {
  const account = session.accountOnDevice();
  parseConversationId(conversationId, account.userId);
  return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
    const { conversation } = transaction;
    const state = conversation.membership === 'member' ? await transaction.state() : null;
    if (state === null || transaction.isSelf) throw new CryptoApiError('usage', 'nobody to agree with');
    if (conversation.refusal !== null) throw new CryptoApiError('identity-changed');
    const pending = await pendingSubmission(transaction);
    if (pending !== null) return pending;
    // The rules let a commit change one such thing alone.
    if (isDue(await dueChanges(transaction, state))) return commitAsMember(transaction, state, [], deps.env);
    const change = await wanted(transaction);
    return change && commitAsMember(transaction, state, [], deps.env, { ...conversation, ...change });
  });
}
