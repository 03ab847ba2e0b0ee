/** The evidence for a message: who wrote it, and whether others were given the same log (PROTOCOL section 10). */
import { ConversationId, check, Seq } from '../api/arguments.ts';
import type { CryptoApi, LogEvidence } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import { inTransaction, type TransactionDeps } from '../conversation/conversationTransaction.ts';
import { isFinding, readEvents } from '../conversation/events.ts';
import { openMessage } from '../conversation/messageView.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import { readReceipts } from '../conversation/receiptRows.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import type { Transaction } from '../storage/db.ts';
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
        const { epoch, senderDeviceId, senderId } = openMessage(account, conversationId, seq, row);
        const state = conversation.membership === 'member' ? await transaction.state() : null;
        return {
          seq,
          senderId,
          senderDeviceId,
          isThisDevice: senderDeviceId === account.device.deviceId,
          epoch,
          suite: state?.group.suite.id ?? null,
          log: await logEvidence(tx, account, conversationId, conversation, seq, state),
        };
      });
    },
  } satisfies Partial<CryptoApi>;
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
