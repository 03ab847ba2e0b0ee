/** The outbox, which keeps messages from the moment they are written until the log has them. */
import { MIMI_SALT_LENGTH } from '@sinetti/crypto-core/content';
import {
  AcceptedInput,
  ConversationId,
  check,
  Id,
  QueueFilesInput,
  QueueInput,
  SendFailureCode,
} from '../api/arguments.ts';
import type { CryptoApi, MessageView, PreparedMessage } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { MessageViews } from '../conversation/messageViews.ts';
import { putInOutbox, readOutbox } from '../conversation/outboxRows.ts';
import { commitAsMember, dueChanges, isDue, pendingSubmission } from '../conversation/ownCommits.ts';
import { keepSent } from '../conversation/sentMessages.ts';
import { findMessage, storedState } from '../conversation/views.ts';
import { readPlace } from '../session/place.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import { read, type Transaction, write } from '../storage/db.ts';
import { encodeFilesPayload, encodeTextPayload, sealedFiles } from '../storage/payload.ts';
import { awaitedIds, type OutboxRecord, readConversation } from '../storage/records.ts';
import { takeUploads } from './files.ts';
import { wordingOf } from './ownMessages.ts';
import {
  changeView,
  encrypt,
  find,
  isPeerKnown,
  needsHealing,
  queue,
  readyMessage,
  requireMessage,
  viewWaiting,
} from './queue.ts';

export function createOutbox(deps: TransactionDeps, session: Session) {
  const { env } = deps;
  return {
    async queueMessage(input) {
      const { inReplyTo, isForwarded, isMarkdown, text, ...message } = check(
        'queueMessage',
        QueueInput,
        input,
      );
      const account = session.accountOnDevice();
      const salt = env.random(MIMI_SALT_LENGTH);
      return queue(account, deps, message, async (views, _tx, timer) => {
        const answered = inReplyTo === null ? null : (await requireMessage(views, inReplyTo)).contentId;
        const marks = { inReplyTo: answered, timer, isForwarded, isMarkdown };
        return { payloads: [encodeTextPayload(text, salt, marks)], shown: null };
      });
    },

    async queueFiles(input) {
      const { files, inReplyTo, isForwarded, isMarkdown, text, ...message } = check(
        'queueFiles',
        QueueFilesInput,
        input,
      );
      const { conversationId, messageId } = message;
      const account = session.accountOnDevice();
      // The page may have been left after it was queued, before it knew: the files' keys are in the message by now.
      const logged = await read(account.db, async (tx) => {
        const view = await findMessage(tx, account, messageId);
        if (view?.conversationId !== conversationId || view.content.kind !== 'files') return null;
        return { message: view, ready: null, state: await storedState(tx, account, conversationId) };
      });
      if (logged !== null) return logged;
      return queue(account, deps, message, async (views, tx, timer) => {
        const waiting = await find(tx, account, messageId);
        if (waiting !== null && sealedFiles(waiting.record.payload).length > 0)
          return { payloads: [], shown: null };
        const answered = inReplyTo === null ? null : (await requireMessage(views, inReplyTo)).contentId;
        const taken = await takeUploads(tx, account, files);
        const marks = { inReplyTo: answered, timer, isForwarded, isMarkdown };
        return {
          payloads: [encodeFilesPayload(text, taken, env.random(MIMI_SALT_LENGTH), marks)],
          shown: null,
        };
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

    async messageAccepted(id, given) {
      const messageId = check('messageAccepted', Id, id);
      const { seq, timestamp } = check('messageAccepted', AcceptedInput, given);
      const account = session.account();
      return write(account.db, 'relaxed', async (tx) => {
        const waiting = await find(tx, account, messageId);
        // The log's entry may arrive before the acknowledgement does.
        if (waiting === null) return requireLogged(tx, account, messageId);
        const { row } = waiting;
        // Its time was over before this tab heard of what another one did.
        if (waiting.record.expired !== null) throw new CryptoApiError('unknown-message');
        const accepted = { status: 'sent', failure: null, seq, timestamp } as const;
        const acceptedAt = waiting.record.acceptedAt ?? account.now();
        const record: OutboxRecord = { ...waiting.record, ...accepted, acceptedAt };
        const { joinedSeq, lastSeq, membership } = await readConversation(
          tx,
          account.sealer,
          row.conversationId,
        );
        // A copy of this browser had sent it before this browser became another device. One that is out of step reads on in the log, and one
        // outside has read none of what may come behind its last entry.
        const isBeforeJoin = seq <= (membership === 'none' ? lastSeq : joinedSeq);
        // Its entry would have been read there: the relay has gone back behind that, and nobody gets the message.
        if (!isBeforeJoin && seq <= lastSeq) throw new CryptoApiError('position-taken');
        if (isBeforeJoin && (await keepSent(tx, account, messageId, row, record))) {
          const shown = await findMessage(tx, account, messageId);
          // A star changes a message of another conversation.
          return shown ?? changeView(account, row.conversationId, messageId, record);
        }
        await putInOutbox(tx, account, messageId, row, record);
        return viewWaiting(tx, account, messageId, { row, record });
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
        return viewWaiting(tx, account, messageId, { row, record: failed });
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

    async messagePlace(id, givenId) {
      const conversationId = check('messagePlace', ConversationId, id);
      const messageId = check('messagePlace', Id, givenId);
      const account = session.account();
      return read(account.db, async (tx) => {
        const keys = await tx.objectStore('messages').index('messageId').getAllKeys(messageId);
        if (keys.some(([within]) => within === conversationId)) return 'log';
        return (await tx.objectStore('outbox').getKey(messageId)) === undefined ? null : 'outbox';
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
        const views = new Map<string, MessageViews>();
        const waiting: MessageView[] = [];
        for (const { messageId, record, row } of await readOutbox(tx, account, conversationId)) {
          if (record.status === 'discarded') continue;
          const of = views.get(row.conversationId) ?? new MessageViews(tx, account, row.conversationId);
          views.set(row.conversationId, of);
          const view = await of.waitingView(of.waitingMessage(messageId, row, record));
          waiting.push(view ?? changeView(account, row.conversationId, messageId, record));
        }
        return waiting;
      });
    },
  } satisfies Partial<CryptoApi>;

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
      encrypted = encrypt(transaction, state, { payload: wording.said, sentAt }, messageId, env);
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
