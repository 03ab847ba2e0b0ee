/** How far others have received and read a conversation, as kept here: one record, only ever from checked receipts. */
import type { PersonReceipt } from '../api/cryptoApi.ts';
import { array, integer, object, string } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import type { UnlockedAccount } from '../session/session.ts';
import type { Transaction } from '../storage/db.ts';
import type { ConversationRecord } from '../storage/records.ts';
import { selfConversationId } from './conversationId.ts';
import type { TransactionScope } from './transactionScope.ts';

const ReceiptsRecord = array(
  object({ userId: string(128), deliveredSeq: integer(1), readSeq: integer(0) }),
  limits.peopleWithReceipts,
);

export async function readReceipts(
  tx: Transaction,
  { sealer }: Pick<UnlockedAccount, 'sealer'>,
  conversationId: string,
): Promise<readonly PersonReceipt[]> {
  const sealed = await tx.objectStore('receipts').get(conversationId);
  return sealed === undefined ? [] : sealer.open('receipts', conversationId, sealed, ReceiptsRecord);
}

export function putReceipts(transaction: TransactionScope, receipts: readonly PersonReceipt[]): void {
  const { account, conversationId, tx } = transaction;
  const sealed = account.sealer.seal('receipts', conversationId, receipts);
  transaction.queueWrite(tx.objectStore('receipts').put(sealed, conversationId));
}

/** Returns whether a conversation has receipts. @param people the number of people in the tree */
export function hasReceipts(
  { userId }: Pick<UnlockedAccount, 'userId'>,
  conversationId: string,
  { chain, membership }: ConversationRecord,
  people: number,
): boolean {
  if (membership !== 'member' || chain === null || conversationId === selfConversationId(userId))
    return false;
  return people <= limits.peopleWithReceipts;
}

/** Returns whether the relay's receipt of this device says less than there is to say, or is of an epoch before. */
export function isReceiptDue({ epoch, lastSeq, readHere, told }: ConversationRecord): boolean {
  return told.epoch !== epoch || told.position < lastSeq || told.readSeq < Math.min(readHere, lastSeq);
}
