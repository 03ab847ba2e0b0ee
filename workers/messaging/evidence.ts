/** The evidence for a message: who wrote it, and whether others were given the same log (PROTOCOL section 10). */
import { CryptoError, encodeOpaque, equalBytes, peekMessage } from '@sinetti/crypto-core';
import { ConversationId, check, LogEntry, Seq } from '../api/arguments.ts';
import type {
  CryptoApi,
  LogEntryInput,
  LogEvidence,
  MessageEvidence,
  PublicField,
  SentEvidence,
} from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { fromBase64Url } from '../codec/base64url.ts';
import { readRow } from '../conversation/chainRows.ts';
import { parseConversationId } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { findPinning, isFinding, readEvents } from '../conversation/events.ts';
import { digestOf } from '../conversation/logChain.ts';
import { openMessage } from '../conversation/messageView.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import { readReceipts } from '../conversation/receiptRows.ts';
import type { AccountOnDevice, Session, UnlockedAccount } from '../session/session.ts';
import { read, type Transaction } from '../storage/db.ts';
import { contentIdOfRecord } from '../storage/messageRow.ts';
import type { ConversationRecord } from '../storage/records.ts';

const decoder = new TextDecoder();

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
          pinned: await pinning(
            transaction,
            contentIdOfRecord(record, { conversationId, messageId: row.messageId }),
          ),
        };
      });
    },

    async sentEvidence(id, given) {
      const conversationId = check('sentEvidence', ConversationId, id);
      const entry = check('sentEvidence', LogEntry, given);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      const match = await read(account.db, (tx) => matchOf({ account, conversationId, tx }, entry));
      return { match, fields: publicFields(entry.content) };
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

/** @param source a transaction, which only reads */
async function matchOf(
  source: { readonly account: AccountOnDevice; readonly conversationId: string; readonly tx: Transaction },
  entry: LogEntryInput,
): Promise<SentEvidence['match']> {
  const { account, conversationId, tx } = source;
  const [chained, row] = await Promise.all([
    readRow(source, entry.seq),
    tx.objectStore('messages').get([conversationId, entry.seq]),
  ]);
  if (chained === null || row === undefined) return 'unknown';
  const { own, sentAt } = openMessage(account, conversationId, entry.seq, row);
  // One that the log had as it was in the outbox has the time of its header; a damaged one has none.
  if (!own || sentAt === null) return 'unknown';
  return equalBytes(chained.digest, digestOf(conversationId, entry)) ? 'same' : 'different';
}

/** Reads the fields in the open of a PrivateMessage; null where it is none. */
function publicFields(content: string): PublicField[] | null {
  const bytes = fromBase64Url(content);
  if (bytes === null || bytes.length === 0) return null;
  try {
    const message = peekMessage(bytes);
    if (message.wireFormat !== 'private-message') return null;
    const { authenticatedData, contentType, epoch, groupId } = message;
    return [
      { name: 'version', length: 2, value: 'mls10' },
      { name: 'wireFormat', length: 2, value: 'mls_private_message' },
      { name: 'groupId', length: encodeOpaque(groupId).length, value: decoder.decode(groupId) },
      { name: 'epoch', length: 8, value: String(epoch) },
      { name: 'contentType', length: 1, value: contentType },
      {
        name: 'authenticatedData',
        length: encodeOpaque(authenticatedData).length,
        value: decoder.decode(authenticatedData),
      },
    ];
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
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
