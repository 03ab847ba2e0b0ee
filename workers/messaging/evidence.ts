/** The evidence for a message: who wrote it, and whether others were given the same log (PROTOCOL section 10). */
import { ConversationId, check, Seq } from '../api/arguments.ts';
import type { CryptoApi, LogEvidence, MessageEvidence } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { findPinning, isFinding, readEvents } from '../conversation/events.ts';
import { openMessage } from '../conversation/messageView.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import { readReceipts } from '../conversation/receiptRows.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import type { Transaction } from '../storage/db.ts';
import { contentIdOfRecord } from '../storage/messageRow.ts';
import type { ConversationRecord } from '../storage/records.ts';

export function createEvidence(deps: TransactionDeps, session: Session) {
  return {
    async messageEvidence(id, position) {
      const conversationId = check('messageEvidence', ConversationId, id);
      const seq = check('messageEvidence', Seq, position);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const { conversation, tx } = transaction;
        const row = await tx.objectStore('messages').get([conversationId, seq]);
        if (row === undefined) throw new CryptoApiError('unknown-message');
        const record = openMessage(account, conversationId, seq, row);
        const { epoch, senderDeviceId, senderId } = record;
        const state = conversation.membership === 'member' ? await transaction.state() : null;
        return {
          seq,
          senderId,
          senderDeviceId,
          isThisDevice: senderDeviceId === account.device.deviceId,
          epoch,
          suite: state?.group.suite.id ?? null,
          log: await logEvidence(tx, account, conversationId, conversation, seq, state),
          pinned: await pinning(transaction, contentIdOfRecord(record, { conversationId, messageId: row.messageId })),
        };
      });
    },
  } satisfies Partial<CryptoApi>;
}

async function pinning(
  transaction: ConversationTransaction,
  contentId: string | null,
): Promise<MessageEvidence['pinned']> {
  if (contentId === null || !transaction.conversation.pinned.includes(contentId)) return null;
  const found = await findPinning(transaction, contentId);
  return found === null ? null : { userId: found.senderId, timestamp: found.timestamp };
}

async function logEvidence(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
  { agreedAt, chain, joinedSeq }: ConversationRecord,
  seq: number,
  state: MlsGroup | null,
): Promise<LogEvidence> {
  const findings = (await readEvents(tx, account, conversationId)).filter(isFinding);
  const event =
    findings.find((finding) => finding.seq === seq) ??
    (seq > agreedAt ? findings.find((finding) => finding.seq > agreedAt) : undefined);
  if (event !== undefined) return { kind: 'finding', event };
  if (chain === null || seq <= Math.max(joinedSeq, chain.start)) return { kind: 'unknown' };
  if (seq > agreedAt) return { kind: 'open' };
  const receipts = await readReceipts(tx, account, conversationId);
  const confirmed = new Set(
    receipts.filter(({ deliveredSeq }) => deliveredSeq >= seq).map(({ userId }) => userId),
  );
  const people = new Set(state?.members().map(({ userId }) => userId));
  people.delete(account.userId);
  return {
    kind: 'agreed',
    confirmed: [...people].filter((userId) => confirmed.has(userId)).length,
    others: people.size,
  };
}
