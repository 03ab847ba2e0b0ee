/** Messages from the moment they are written until the log has them. */
import { encryptApplication } from '@sinetti/crypto-core';
import { AcceptedInput, check, FailureCode, Id, QueueInput } from '../api/arguments.ts';
import type { CryptoApi, PreparedMessage, ReadyMessage } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { parseConversationId, peerOf } from '../conversation/conversationId.ts';
import { type ConversationStep, inStep, type StepDeps } from '../conversation/conversationTransaction.ts';
import { isNameDue } from '../conversation/groupRecord.ts';
import type { GroupState } from '../conversation/mlsGroup.ts';
import {
  commitAsMember,
  dueChanges,
  isDue,
  supersededLeaves,
  waitingCommit,
} from '../conversation/ownCommits.ts';
import { encodeTextPayload, payloadBytes } from '../conversation/payload.ts';
import { findMessage, openOutbox, outboxView } from '../conversation/views.ts';
import { readPin } from '../identity/pins.ts';
import type { Person, Session } from '../session/session.ts';
import {
  type OutboxRow,
  read,
  type Transaction,
  type WriteTransaction,
  withinConversation,
  write,
} from '../storage/db.ts';
import type { HeadRecord, OutboxRecord } from '../storage/records.ts';

type OutboxApi = Pick<
  CryptoApi,
  'queueMessage' | 'prepareMessage' | 'messageAccepted' | 'messageFailed' | 'discardMessage' | 'outbox'
>;

/** Healing (PROTOCOL section 4): a device renews its own leaf after so many messages, or so long. */
const MESSAGES_PER_COMMIT = 50;
const COMMIT_INTERVAL_MS = 24 * 60 * 60 * 1000;

const encoder = new TextEncoder();

interface Waiting {
  readonly row: OutboxRow;
  readonly record: OutboxRecord;
}

export function createOutbox(deps: StepDeps, session: Session): OutboxApi {
  const { env } = deps;
  return {
    async queueMessage(input) {
      const { conversationId, messageId, text, sentAt } = check('queueMessage', QueueInput, input);
      const person = session.personWithDevice();
      parseConversationId(conversationId, person.userId);
      const payload = encodeTextPayload(text, sentAt);
      return inStep(person, deps, conversationId, 'strict', async (step) => {
        const { head, tx } = step;
        const [known, logged, last, isNext] = await Promise.all([
          find(tx, person, messageId),
          findMessage(tx, person, messageId),
          tx.objectStore('outbox').index('order').openKeyCursor(null, 'prev'),
          isNothingWaiting(step),
        ]);
        if (known !== null) {
          if (known.row.conversationId === conversationId && known.record.payload === payload) {
            return { message: outboxView(person, conversationId, messageId, known.record), ready: null };
          }
          throw new CryptoApiError('usage', 'the message id is taken');
        }
        if (logged !== null) throw new CryptoApiError('usage', 'the message id is in the log');
        const ciphertext = isNext ? await encryptAtOnce(step, payload, messageId) : null;
        const record: OutboxRecord = {
          status: 'sending',
          failure: null,
          payload,
          sentAt,
          epoch: ciphertext === null ? null : head.epoch,
          ciphertext,
          seq: null,
          timestamp: null,
        };
        const order = last === null ? 1 : last.key + 1;
        await put(tx, person, messageId, { conversationId, order }, record);
        return {
          message: outboxView(person, conversationId, messageId, record),
          ready: ciphertext === null ? null : readyMessage(step, messageId, ciphertext),
        };
      });
    },

    async prepareMessage(id) {
      const messageId = check('prepareMessage', Id, id);
      const person = session.personWithDevice();
      const waiting = await read(person.db, (tx) => find(tx, person, messageId));
      const conversationId = waiting?.row.conversationId;
      if (conversationId === undefined) return alreadySent(person, messageId);
      const prepared = await inStep(person, deps, conversationId, 'strict', (step) =>
        prepare(step, messageId),
      );
      return prepared ?? alreadySent(person, messageId);
    },

    async messageAccepted(id, accepted) {
      const messageId = check('messageAccepted', Id, id);
      const { seq, timestamp } = check('messageAccepted', AcceptedInput, accepted);
      const person = session.person();
      return write(person.db, 'relaxed', async (tx) => {
        const waiting = await find(tx, person, messageId);
        // The log may have been faster than the acknowledgement.
        if (waiting === null) return requireLogged(tx, person, messageId);
        const record: OutboxRecord = { ...waiting.record, status: 'sent', failure: null, seq, timestamp };
        await put(tx, person, messageId, waiting.row, record);
        return outboxView(person, waiting.row.conversationId, messageId, record);
      });
    },

    async messageFailed(id, code) {
      const messageId = check('messageFailed', Id, id);
      const failure = check('messageFailed', FailureCode, code);
      const person = session.person();
      return write(person.db, 'relaxed', async (tx) => {
        const waiting = await find(tx, person, messageId);
        if (waiting === null || waiting.record.status === 'discarded') {
          return requireLogged(tx, person, messageId);
        }
        const { row, record } = waiting;
        // What the relay has taken hasn't failed, whatever a second attempt met.
        const failed: OutboxRecord =
          record.status === 'sent' ? record : { ...record, status: 'failed', failure };
        await put(tx, person, messageId, row, failed);
        return outboxView(person, row.conversationId, messageId, failed);
      });
    },

    async discardMessage(id) {
      const messageId = check('discardMessage', Id, id);
      const person = session.person();
      await write(person.db, 'relaxed', async (tx) => {
        const waiting = await find(tx, person, messageId);
        if (waiting === null) return;
        const { row, record } = waiting;
        if (record.status === 'sent') throw new CryptoApiError('usage', 'the message was sent');
        // Its ciphertext may be on its way: if the log has it after all, it is shown like any other.
        if (record.ciphertext === null) await tx.objectStore('outbox').delete(messageId);
        else await put(tx, person, messageId, row, { ...record, status: 'discarded' });
      });
    },

    async outbox() {
      const person = session.person();
      return read(person.db, async (tx) => {
        const index = tx.objectStore('outbox').index('order');
        const [rows, ids] = await Promise.all([index.getAll(), primaryKeys(tx)]);
        return rows.flatMap((row, i) => {
          const messageId = ids[i];
          if (messageId === undefined) return [];
          const record = openOutbox(person, messageId, row);
          return record.status === 'discarded'
            ? []
            : [outboxView(person, row.conversationId, messageId, record)];
        });
      });
    },
  };

  /** Null when the message isn't in the outbox any more. */
  async function prepare(step: ConversationStep, messageId: string): Promise<PreparedMessage | null> {
    const { head, person, tx } = step;
    const waiting = await find(tx, person, messageId);
    if (waiting === null || waiting.record.status === 'discarded') return null;
    const state = head.membership === 'member' ? await step.state() : null;
    if (state === null) return whileOutside(step);
    if (!(await isPeerKnown(step, state))) throw new CryptoApiError('identity-changed');

    const { row, record } = waiting;
    // Nothing more is said to somebody who left, not even what was encrypted before that was known.
    const changesDue = isDue(await dueChanges(step, state));
    const current = record.epoch === head.epoch && !changesDue ? record.ciphertext : null;
    if (
      current === null &&
      (changesDue || head.pending === 'member' || (await needsHealing(step, env.now())))
    ) {
      const submission = (await waitingCommit(step)) ?? (await commitAsMember(step, state, [], env));
      return { kind: 'commit', submission };
    }
    const content = current ?? encrypt(state, head, record.payload, messageId);
    const status = record.status === 'failed' ? 'sending' : record.status;
    const prepared: OutboxRecord = {
      ...record,
      status,
      failure: null,
      epoch: head.epoch,
      ciphertext: content,
    };
    await put(tx, person, messageId, row, prepared);
    return readyMessage(step, messageId, content);
  }

  /** What is written can go as the conversation stands, without a step of its own; null where something comes first. */
  async function encryptAtOnce(
    step: ConversationStep,
    payload: string,
    messageId: string,
  ): Promise<Uint8Array | null> {
    const { head } = step;
    const isMember = head.membership === 'member' && head.pending === 'none';
    const state = isMember ? await step.state() : null;
    if (state === null) return null;
    const [isKnown, changes, isHealing] = await Promise.all([
      isPeerKnown(step, state),
      dueChanges(step, state),
      needsHealing(step, env.now()),
    ]);
    if (!isKnown || isDue(changes) || isHealing) return null;
    return encrypt(state, head, payload, messageId);
  }

  async function whileOutside(step: ConversationStep): Promise<PreparedMessage> {
    const { head } = step;
    if (head.pending === 'external') return { kind: 'wait' };
    const start = head.membership === 'none' && head.pending === 'start' ? await waitingCommit(step) : null;
    return start === null ? { kind: 'outside' } : { kind: 'commit', submission: start };
  }

  function encrypt(state: GroupState, head: HeadRecord, payload: string, messageId: string): Uint8Array {
    const content = encryptApplication(state.group, payloadBytes(payload), encoder.encode(messageId), env);
    state.accept();
    head.sentSinceCommit++;
    return content;
  }
}

/** False while it is in doubt who the other person of a direct conversation is. */
async function isPeerKnown(step: ConversationStep, state: GroupState): Promise<boolean> {
  const { conversationId, person, tx } = step;
  const peer = peerOf(conversationId, person.userId);
  if (peer === null) return true;
  const pin = await readPin(tx, person, peer);
  if (pin === null || (pin.offered === null && pin.former.length === 0)) return true;
  return pin.offered === null && (await supersededLeaves(step, state)).length === 0;
}

async function needsHealing(step: ConversationStep, now: number): Promise<boolean> {
  const { committedAt, sentSinceCommit } = step.head;
  if (committedAt === null || sentSinceCommit >= MESSAGES_PER_COMMIT) return true;
  if (now - committedAt >= COMMIT_INTERVAL_MS) return true;
  // A commit renews the group's name at the relay, too, where those who came last can't open the one that is there.
  const group = await step.group();
  return group !== null && isNameDue(group);
}

/** Whether no message of the conversation waits for its turn. */
async function isNothingWaiting({ conversationId, person, tx }: ConversationStep): Promise<boolean> {
  const index = tx.objectStore('outbox').index('conversation');
  // Backwards, since of many the newest is the likeliest to wait.
  let cursor = await index.openCursor(withinConversation(conversationId), 'prev');
  while (cursor !== null) {
    if (openOutbox(person, cursor.primaryKey, cursor.value).status === 'sending') return false;
    cursor = await cursor.continue();
  }
  return true;
}

function readyMessage(
  { conversationId, head }: ConversationStep,
  messageId: string,
  content: Uint8Array,
): ReadyMessage {
  return { kind: 'message', conversationId, messageId, epoch: head.epoch, content: toBase64Url(content) };
}

async function find(tx: Transaction, person: Person, messageId: string): Promise<Waiting | null> {
  const row = await tx.objectStore('outbox').get(messageId);
  return row === undefined ? null : { row, record: openOutbox(person, messageId, row) };
}

async function put(
  tx: WriteTransaction,
  person: Person,
  messageId: string,
  { conversationId, order }: Pick<OutboxRow, 'conversationId' | 'order'>,
  record: OutboxRecord,
): Promise<void> {
  const sealed = person.sealer.seal('outbox', messageId, record);
  await tx.objectStore('outbox').put({ conversationId, order, sealed }, messageId);
}

/** Message ids in the order of writing. */
async function primaryKeys(tx: Transaction): Promise<string[]> {
  return tx.objectStore('outbox').index('order').getAllKeys();
}

async function alreadySent(person: Person, messageId: string): Promise<PreparedMessage> {
  const message = await read(person.db, (tx) => requireLogged(tx, person, messageId));
  return { kind: 'sent', message };
}

/** @throws CryptoApiError `not-found` */
async function requireLogged(tx: Transaction, person: Person, messageId: string) {
  const message = await findMessage(tx, person, messageId);
  if (message === null) throw new CryptoApiError('not-found');
  return message;
}
