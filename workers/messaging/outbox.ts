/** The outbox, which keeps messages from the moment they are written until the log has them. */
import { encryptApplication } from '@sinetti/crypto-core';
import { MIMI_SALT_LENGTH, withChainHeader } from '@sinetti/crypto-core/content';
import {
  AcceptedInput,
  ConversationId,
  check,
  Id,
  QueueFilesInput,
  QueueInput,
  SendFailureCode,
} from '../api/arguments.ts';
import type { CryptoApi, PreparedMessage, QueuedMessage, ReadyMessage } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { parseConversationId, peerOf } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import {
  commitAsMember,
  dueChanges,
  isDue,
  lacksPresentDevices,
  pendingSubmission,
} from '../conversation/ownCommits.ts';
import { encodeFilesPayload, encodeTextPayload, payloadBytes, saysTheSame } from '../conversation/payload.ts';
import { findMessage, openOutbox, outboxView, storedState } from '../conversation/views.ts';
import { readPin } from '../identity/pins.ts';
import { type Place, readPlace } from '../session/place.ts';
import { moveToMessages } from '../session/sentMessages.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import { type OutboxRow, read, type Transaction, withinConversation, write } from '../storage/db.ts';
import { awaitedIds, isNameDue, type OutboxRecord, readConversation } from '../storage/records.ts';
import { takeUploads } from './files.ts';
import { appendToOutbox, newOutboxRecord, putInOutbox, readOutbox } from './outboxRows.ts';
import { wordingOf } from './ownMessages.ts';

/**
 * The number of messages and the time after which a device renews its own leaf (PROTOCOL section 4, healing).
 */
const MESSAGES_PER_COMMIT = 50;
const COMMIT_INTERVAL_MS = 24 * 60 * 60 * 1000;

const encoder = new TextEncoder();

type Encrypted = Pick<OutboxRecord, 'headerAt'> & { readonly ciphertext: Uint8Array };

interface Waiting {
  readonly row: OutboxRow;
  readonly record: OutboxRecord;
}

export function createOutbox(deps: TransactionDeps, session: Session) {
  const { env } = deps;
  return {
    async queueMessage(input) {
      const { conversationId, messageId, text, sentAt } = check('queueMessage', QueueInput, input);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      const payload = encodeTextPayload(text, env.random(MIMI_SALT_LENGTH));
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        const { tx } = transaction;
        const [known, logged] = await Promise.all([
          find(tx, account, messageId),
          findMessage(tx, account, messageId),
        ]);
        if (known !== null) {
          if (known.row.conversationId === conversationId && isSame(known.record, { payload, sentAt })) {
            const message = outboxView(account, conversationId, messageId, known.record);
            return { message, ready: null, state: await transaction.finish() };
          }
          throw new CryptoApiError('usage', 'the message id is taken');
        }
        if (logged !== null) throw new CryptoApiError('usage', 'the message id is in the log');
        return append(transaction, messageId, { payload, sentAt });
      });
    },

    async queueFiles(input) {
      const { conversationId, messageId, ...said } = check('queueFiles', QueueFilesInput, input);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      return inTransaction(account, deps, conversationId, 'strict', async (transaction) => {
        const { tx } = transaction;
        const known = await find(tx, account, messageId);
        const queued =
          known === null
            ? await findMessage(tx, account, messageId)
            : outboxView(account, known.row.conversationId, messageId, known.record);
        // The page may have been left after it was queued, before it knew: the files' keys are in the message by now.
        if (queued?.conversationId === conversationId && queued.content.kind === 'files')
          return { message: queued, ready: null, state: await transaction.finish() };
        if (queued !== null) throw new CryptoApiError('usage', 'the message id is taken');
        const files = await takeUploads(tx, account, said.files);
        const payload = encodeFilesPayload(said.text, files, env.random(MIMI_SALT_LENGTH));
        return append(transaction, messageId, { payload, sentAt: said.sentAt });
      });
    },

    async prepareMessage(id) {
      const messageId = check('prepareMessage', Id, id);
      const account = session.accountOnDevice();
      const waiting = await read(account.db, (tx) => find(tx, account, messageId));
      const conversationId = waiting?.row.conversationId;
      if (conversationId === undefined) return alreadySent(account, messageId);
      const prepared = await inTransaction(account, deps, conversationId, 'strict', (transaction) =>
        prepare(transaction, messageId),
      );
      return prepared ?? alreadySent(account, messageId);
    },

    async messageAccepted(id, accepted) {
      const messageId = check('messageAccepted', Id, id);
      const { seq, timestamp } = check('messageAccepted', AcceptedInput, accepted);
      const account = session.account();
      return write(account.db, 'relaxed', async (tx) => {
        const waiting = await find(tx, account, messageId);
        // The log's entry may arrive before the acknowledgement does.
        if (waiting === null) return requireLogged(tx, account, messageId);
        const { row } = waiting;
        const record: OutboxRecord = { ...waiting.record, status: 'sent', failure: null, seq, timestamp };
        const { joinedSeq, membership } = await readConversation(tx, account.sealer, row.conversationId);
        // A copy of this browser had sent it before this browser became another device.
        const isBeforeJoin = membership !== 'member' || seq <= joinedSeq;
        const isMoved = isBeforeJoin && (await moveToMessages(tx, account, messageId, row, record));
        if (!isMoved) await putInOutbox(tx, account, messageId, row, record);
        return outboxView(account, row.conversationId, messageId, record);
      });
    },

    async messageFailed(id, code) {
      const messageId = check('messageFailed', Id, id);
      const failure = check('messageFailed', SendFailureCode, code);
      const account = session.account();
      return write(account.db, 'relaxed', async (tx) => {
        const waiting = await find(tx, account, messageId);
        if (waiting === null || waiting.record.status === 'discarded') {
          return requireLogged(tx, account, messageId);
        }
        const { row, record } = waiting;
        // A message that the relay has taken was sent, even if a second attempt failed.
        const failed: OutboxRecord =
          record.status === 'sent' ? record : { ...record, status: 'failed', failure };
        await putInOutbox(tx, account, messageId, row, failed);
        return outboxView(account, row.conversationId, messageId, failed);
      });
    },

    async discardMessage(id) {
      const messageId = check('discardMessage', Id, id);
      const account = session.account();
      return write(account.db, 'relaxed', async (tx) => {
        const waiting = await find(tx, account, messageId);
        if (waiting === null) return null;
        const { row, record } = waiting;
        if (record.status === 'sent') throw new CryptoApiError('usage', 'the message was sent');
        // Its ciphertext may be under way; the record is kept so that the message can be shown if the log has
        // it after all.
        if (record.ciphertext === null) await tx.objectStore('outbox').delete(messageId);
        else await putInOutbox(tx, account, messageId, row, { ...record, status: 'discarded' });
        return storedState(tx, account, row.conversationId);
      });
    },

    async sendAnyway(id) {
      const conversationId = check('sendAnyway', ConversationId, id);
      const account = session.accountOnDevice();
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        transaction.conversation.isDoubted = false;
        const group = await transaction.group();
        if (group !== null && awaitedIds(group).length > 0) {
          const isCreator = group.creatorId === account.userId;
          const unvouched = group.unvouched.map((person) => ({ ...person, isKept: true }));
          transaction.putGroup({ ...group, unvouched: isCreator ? [] : unvouched });
          // The creator's word is enough here, and a commit before their next message tells the others.
          if (isCreator) transaction.conversation.committedAt = null;
        }
        return transaction.finish();
      });
    },

    async outbox(id) {
      const conversationId = id === undefined ? null : check('outbox', ConversationId, id);
      const account = session.account();
      return read(account.db, async (tx) => {
        const [rows, ids] = await readOutbox(tx, conversationId);
        return rows.flatMap((row, i) => {
          const messageId = ids[i];
          if (messageId === undefined) return [];
          const record = openOutbox(account, messageId, row);
          return record.status === 'discarded'
            ? []
            : [outboxView(account, row.conversationId, messageId, record)];
        });
      });
    },
  } satisfies Partial<CryptoApi>;

  /** Puts a message into the outbox, encrypted where nothing has to go first. */
  async function append(
    transaction: ConversationTransaction,
    messageId: string,
    { payload, sentAt }: Pick<OutboxRecord, 'payload' | 'sentAt'>,
  ): Promise<QueuedMessage> {
    const { account, conversation, conversationId, tx } = transaction;
    const [isNext, place] = await Promise.all([isNothingWaiting(transaction), readPlace(tx, account)]);
    const encrypted =
      isNext && !place.isCopied ? await encryptAtOnce(transaction, { payload, sentAt }, messageId) : null;
    const epoch = encrypted === null ? null : conversation.epoch;
    const record: OutboxRecord = { ...newOutboxRecord(payload, sentAt), epoch, ...encrypted };
    await appendToOutbox(tx, account, conversationId, messageId, record);
    return {
      message: outboxView(account, conversationId, messageId, record),
      ready: encrypted === null ? null : readyMessage(transaction, messageId, encrypted.ciphertext, place),
      state: await transaction.finish(),
    };
  }

  /** Prepares a message; null when it isn't in the outbox any more. */
  async function prepare(
    transaction: ConversationTransaction,
    messageId: string,
  ): Promise<PreparedMessage | null> {
    const { conversation, account, tx } = transaction;
    const waiting = await find(tx, account, messageId);
    if (waiting === null || waiting.record.status === 'discarded') return null;
    const state = conversation.membership === 'member' ? await transaction.state() : null;
    if (state === null) return prepareOutside(transaction);
    if (conversation.refusal !== null || !(await isPeerKnown(transaction, state))) {
      throw new CryptoApiError('identity-changed');
    }
    const group = await transaction.group();
    // Another tab may have come back meanwhile, to others than it left.
    if (group !== null && awaitedIds(group).length > 0) throw new CryptoApiError('members-in-doubt');

    const place = await readPlace(tx, account);
    if (place.isCopied) throw new CryptoApiError('device-copied');

    const { row, record } = waiting;
    // Nothing is sent to somebody who left or to a revoked device, even if it was encrypted before that was
    // known.
    const changesDue = isDue(await dueChanges(transaction, state));
    const current = record.epoch === conversation.epoch && !changesDue ? record.ciphertext : null;
    if (
      current === null &&
      (changesDue || conversation.pending === 'member' || (await needsHealing(transaction, env.now())))
    ) {
      const submission =
        (await pendingSubmission(transaction)) ?? (await commitAsMember(transaction, state, [], env));
      return { kind: 'commit', submission };
    }
    let { payload } = record;
    let encrypted = current === null ? null : { ciphertext: current, headerAt: record.headerAt };
    if (encrypted === null) {
      const wording = await wordingOf(transaction, payload);
      if (wording === null) {
        await tx.objectStore('outbox').delete(messageId);
        return null;
      }
      payload = wording.payload;
      const { sentAt } = record;
      encrypted = encrypt(transaction, state, { payload: wording.said, sentAt }, messageId);
    }
    const status = record.status === 'failed' ? 'sending' : record.status;
    const prepared: OutboxRecord = {
      ...record,
      payload,
      status,
      failure: null,
      epoch: conversation.epoch,
      ...encrypted,
    };
    await putInOutbox(tx, account, messageId, row, prepared);
    return readyMessage(transaction, messageId, encrypted.ciphertext, place);
  }

  /** Encrypts a message in the transaction that queues it; null where something has to go first. */
  async function encryptAtOnce(
    transaction: ConversationTransaction,
    message: Pick<OutboxRecord, 'payload' | 'sentAt'>,
    messageId: string,
  ): Promise<Encrypted | null> {
    const { conversation } = transaction;
    const group = await transaction.group();
    const isMember =
      conversation.membership === 'member' &&
      (group === null || awaitedIds(group).length === 0) &&
      conversation.pending === 'none' &&
      conversation.refusal === null &&
      !conversation.isDoubted;
    const state = isMember ? await transaction.state() : null;
    if (state === null) return null;
    const [isKnown, changes, isHealing] = await Promise.all([
      isPeerKnown(transaction, state),
      dueChanges(transaction, state),
      needsHealing(transaction, env.now()),
    ]);
    if (!isKnown || isDue(changes) || isHealing) return null;
    return encrypt(transaction, state, message, messageId);
  }

  /** Returns the next thing to do for a message while this device isn't a member. */
  async function prepareOutside(transaction: ConversationTransaction): Promise<PreparedMessage> {
    const { conversation } = transaction;
    if (conversation.pending === 'external') return { kind: 'wait' };
    const start =
      conversation.membership === 'none' && conversation.pending === 'start'
        ? await pendingSubmission(transaction)
        : null;
    return start === null ? { kind: 'outside' } : { kind: 'commit', submission: start };
  }

  /** Encrypts a message with the header of what this device has read by now. */
  function encrypt(
    { chain, conversation }: ConversationTransaction,
    state: MlsGroup,
    { payload, sentAt }: Pick<OutboxRecord, 'payload' | 'sentAt'>,
    messageId: string,
  ): Encrypted {
    const header = chain.header(sentAt);
    const plaintext = withChainHeader(header, payloadBytes(payload));
    const ciphertext = encryptApplication(state.group, plaintext, encoder.encode(messageId), env);
    state.accept();
    conversation.sentSinceCommit++;
    return { ciphertext, headerAt: header.position };
  }
}

/** Returns whether two records are of one message: each encoding of it has a salt of its own. */
function isSame(
  one: Pick<OutboxRecord, 'payload' | 'sentAt'>,
  other: Pick<OutboxRecord, 'payload' | 'sentAt'>,
): boolean {
  return one.sentAt === other.sentAt && saysTheSame(one.payload, other.payload);
}

/**
 * Returns whether the other person's account key is settled: none is offered, and their devices in the
 * direct conversation are those under the present one.
 */
async function isPeerKnown(transaction: ConversationTransaction, state: MlsGroup): Promise<boolean> {
  const { conversationId, account, tx } = transaction;
  const peer = peerOf(conversationId, account.userId);
  if (peer === null) return true;
  const pin = await readPin(tx, account, peer);
  if (pin === null || (pin.offered === null && pin.former.length === 0)) return true;
  return pin.offered === null && !(await lacksPresentDevices(transaction, state));
}

async function needsHealing(transaction: ConversationTransaction, now: number): Promise<boolean> {
  const { committedAt, sentSinceCommit } = transaction.conversation;
  if (committedAt === null || sentSinceCommit >= MESSAGES_PER_COMMIT) return true;
  if (now - committedAt >= COMMIT_INTERVAL_MS) return true;
  // A commit also brings the group's name to devices that joined from outside and can't open the one at the
  // relay.
  const group = await transaction.group();
  return group !== null && isNameDue(group);
}

/** Returns whether no message of the conversation waits for its turn. */
async function isNothingWaiting({ conversationId, account, tx }: ConversationTransaction): Promise<boolean> {
  const index = tx.objectStore('outbox').index('conversation');
  // The cursor goes backwards, since the newest message is the likeliest to wait.
  let cursor = await index.openCursor(withinConversation(conversationId), 'prev');
  while (cursor !== null) {
    if (openOutbox(account, cursor.primaryKey, cursor.value).status === 'sending') return false;
    cursor = await cursor.continue();
  }
  return true;
}

function readyMessage(
  { conversationId, conversation }: ConversationTransaction,
  messageId: string,
  content: Uint8Array,
  { start }: Place,
): ReadyMessage {
  return {
    kind: 'message',
    conversationId,
    messageId,
    epoch: conversation.epoch,
    content: toBase64Url(content),
    start,
  };
}

async function find(tx: Transaction, account: UnlockedAccount, messageId: string): Promise<Waiting | null> {
  const row = await tx.objectStore('outbox').get(messageId);
  return row === undefined ? null : { row, record: openOutbox(account, messageId, row) };
}

async function alreadySent(account: UnlockedAccount, messageId: string): Promise<PreparedMessage> {
  const message = await read(account.db, (tx) => requireLogged(tx, account, messageId));
  return { kind: 'sent', message };
}

/** Finds a message that the log has. @throws CryptoApiError `unknown-message` */
async function requireLogged(tx: Transaction, account: UnlockedAccount, messageId: string) {
  const message = await findMessage(tx, account, messageId);
  if (message === null) throw new CryptoApiError('unknown-message');
  return message;
}
