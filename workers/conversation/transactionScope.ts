import type { AccountOnDevice } from '../session/session.ts';
import type { WriteTransaction } from '../storage/db.ts';
import type { ConversationRecord } from '../storage/records.ts';

/**
 * The part of a conversation transaction that the rows of a conversation touch: they read and write under its id, and
 * know neither its group nor its rules.
 */
export interface TransactionScope {
  readonly account: AccountOnDevice;
  readonly tx: WriteTransaction;
  readonly conversationId: string;
  /** Changed in place; stored as the transaction ends. */
  readonly conversation: ConversationRecord;
  /** Has the transaction wait for a write before it ends. */
  queueWrite(request: Promise<unknown>): void;
}
