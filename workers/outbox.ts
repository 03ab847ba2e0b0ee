/** Messages from the moment they are written until the log has them. */
import { encryptApplication } from '@sinetti/crypto-core';
import type { CryptoApi, PreparedMessage } from './api.ts';
import { AcceptedInput, check, FailureCode, Id, QueueInput } from './arguments.ts';
import { toBase64Url } from './base64url.ts';
import { commitAsMember, dueChanges, isDue, waitingCommit } from './commits.ts';
import { parseConversationId } from './conversationId.ts';
import { CryptoApiError } from './errors.ts';
import type { GroupState } from './groupState.ts';
import { findMessage, openOutbox, outboxView } from './history.ts';
import { encodeTextPayload, payloadBytes } from './payload.ts';
import type { Person, Session } from './session.ts';
import { type ConversationStep, inStep, type StepDeps } from './steps.ts';
import { type OutboxRow, read, type Transaction, write, type WriteTransaction } from './vault/db.ts';
import type { HeadRecord, OutboxRecord } from './vault/records.ts';

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
      return write(person.db, 'strict', async (tx) => {
        const known = await find(tx, person, messageId);
        if (known !== null) {
          if (known.row.conversationId === conversationId && known.record.payload === payload) {
            return outboxView(person, conversationId, messageId, known.record);
          }
          throw new CryptoApiError('usage', 'the message id is taken');
        }
        if ((await findMessage(tx, person, messageId)) !== null) {
          throw new CryptoApiError('usage', 'the message id is in the log');
        }
        const last = await tx.objectStore('outbox').index('order').openKeyCursor(null, 'prev');
        const record: OutboxRecord = {
          status: 'sending',
          failure: null,
          payload,
          sentAt,
          epoch: null,
          ciphertext: null,
          seq: null,
          timestamp: null,
        };
        const order = last === null ? 1 : last.key + 1;
        await put(tx, person, messageId, { conversationId, order }, record);
        return outboxView(person, conversationId, messageId, record);
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
    const { conversationId, head, person, tx } = step;
    const waiting = await find(tx, person, messageId);
    if (waiting === null || waiting.record.status === 'discarded') return null;
    const state = head.membership === 'member' ? await step.state() : null;
    if (state === null) return whileOutside(step);

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
    return {
      kind: 'message',
      conversationId,
      messageId,
      epoch: head.epoch,
      content: toBase64Url(content),
    };
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

async function needsHealing(step: ConversationStep, now: number): Promise<boolean> {
  const { committedAt, sentSinceCommit } = step.head;
  if (committedAt === null || sentSinceCommit >= MESSAGES_PER_COMMIT) return true;
  if (now - committedAt >= COMMIT_INTERVAL_MS) return true;
  // A commit renews the group's name at the relay, too, where those who came last can't open the one that is there.
  const group = await step.group();
  return group !== null && group.name !== null && group.namelessDevices.length > 0;
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
