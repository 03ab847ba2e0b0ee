/** Queueing messages and their changes, and encrypting them where nothing has to go first. */
import { type Env, encryptApplication } from '@sinetti/crypto-core';
import { withChainHeader } from '@sinetti/crypto-core/content';
import type { MessageView, QueuedMessage, ReadyMessage } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { randomUuid } from '../codec/uuid.ts';
import { parseConversationId, peerOf } from '../conversation/conversationId.ts';
import {
  type ConversationTransaction,
  inTransaction,
  type TransactionDeps,
} from '../conversation/conversationTransaction.ts';
import { type KnownMessage, openOutbox, outboxView } from '../conversation/messageView.ts';
import { MessageViews } from '../conversation/messageViews.ts';
import type { MlsGroup } from '../conversation/mlsGroup.ts';
import { newOutboxRecord, nextOrder, putInOutbox } from '../conversation/outboxRows.ts';
import { dueChanges, isDue, lacksPresentDevices } from '../conversation/ownCommits.ts';
import { keepSent } from '../conversation/sentMessages.ts';
import { readPin } from '../identity/pins.ts';
import { type Place, readPlace } from '../session/place.ts';
import type { AccountOnDevice, UnlockedAccount } from '../session/session.ts';
import {
  type OutboxRow,
  type Transaction,
  type WriteTransaction,
  withinConversation,
} from '../storage/db.ts';
import { payloadBytes, saysTheSame } from '../storage/payload.ts';
import { awaitedIds, isNameDue, type OutboxRecord } from '../storage/records.ts';

/**
 * The number of messages and the time after which a device renews its own leaf (PROTOCOL section 4, healing).
 */
const MESSAGES_PER_COMMIT = 50;
const COMMIT_INTERVAL_MS = 24 * 60 * 60 * 1000;

const encoder = new TextEncoder();

export type Encrypted = Pick<OutboxRecord, 'headerAt'> & { readonly ciphertext: Uint8Array };

export interface Waiting {
  readonly row: OutboxRow;
  readonly record: OutboxRecord;
}

/** All that is to be queued by one call. */
export interface Wording {
  /** The first has the message id of the call. */
  readonly payloads: readonly string[];
  /** The message that is changed; null for a message of its own. */
  readonly shown: KnownMessage | null;
}

/**
 * Queues a message or a change, once for each id, and encrypts it at once where nothing has to go first.
 * @throws CryptoApiError `usage` for an id that another message has
 */
export async function queue(
  account: AccountOnDevice,
  { env, locks }: TransactionDeps,
  { conversationId, messageId, sentAt }: { conversationId: string; messageId: string; sentAt: string },
  wordingFor: (views: MessageViews, tx: WriteTransaction, timer: number) => Promise<Wording>,
): Promise<QueuedMessage> {
  parseConversationId(conversationId, account.userId);
  return inTransaction(account, { env, locks }, conversationId, 'strict', async (transaction) => {
    const { conversation, tx } = transaction;
    const views = new MessageViews(tx, account, conversationId);
    // Each answer of the database takes a while, so all is asked for at once.
    const [known, logged, isNext, place, order, { payloads, shown }] = await Promise.all([
      find(tx, account, messageId),
      tx.objectStore('messages').index('messageId').getKey(messageId),
      isNothingWaiting(transaction),
      readPlace(tx, account),
      nextOrder(tx),
      wordingFor(views, tx, conversation.timer),
    ]);
    const [payload, ...others] = payloads;
    if (known !== null) {
      if (known.row.conversationId !== conversationId || !isSame(known.record, { payload, sentAt }))
        throw new CryptoApiError('usage', 'the message id is taken');
      const message = await viewWaiting(tx, account, messageId, known);
      return { message, ready: null, state: await transaction.finish() };
    }
    if (logged !== undefined) throw new CryptoApiError('usage', 'the message id is in the log');
    let ready: ReadyMessage | null = null;
    let record: OutboxRecord | null = null;
    if (payload !== undefined) {
      const isReady = isNext && !place.isCopied && others.length === 0;
      const encrypted = isReady
        ? await encryptAtOnce(transaction, { payload, sentAt }, messageId, env)
        : null;
      const epoch = encrypted === null ? null : conversation.epoch;
      record = { ...newOutboxRecord(payload, sentAt), epoch, ...encrypted };
      transaction.queueWrite(putInOutbox(tx, account, messageId, { conversationId, order }, record));
      for (const [at, other] of others.entries()) {
        const row = { conversationId, order: order + 1 + at };
        transaction.queueWrite(
          putInOutbox(tx, account, randomUuid(env), row, newOutboxRecord(other, sentAt)),
        );
      }
      ready = encrypted && readyMessage(transaction, messageId, encrypted.ciphertext, place);
    }
    views.forgetWaiting();
    const [message, state] = await Promise.all([
      shown === null ? record && views.newView(messageId, record) : views.viewOf(shown),
      transaction.finish(),
    ]);
    if (message === null) throw new CryptoApiError('unknown-message');
    return { message, ready, state };
  });
}

/** A message that can be answered and changed, as it is shown. */
export interface RequiredMessage {
  readonly contentId: string;
  readonly known: KnownMessage;
  readonly view: MessageView;
}

/**
 * Finds a message that can be answered and changed, by its message id.
 * @throws CryptoApiError `unknown-message` for one that isn't here, was deleted, or can't be read
 */
export async function requireMessage(views: MessageViews, messageId: string): Promise<RequiredMessage> {
  const known = await views.find(messageId);
  const view = known === null ? null : await views.viewOf(known);
  const contentId = known === null ? null : views.contentIdOf(known);
  if (known === null || view === null || contentId === null || view.content.kind === 'deleted')
    throw new CryptoApiError('unknown-message');
  return { contentId, known, view };
}

/** Encrypts a message in the transaction that queues it; null where something has to go first. */
async function encryptAtOnce(
  transaction: ConversationTransaction,
  message: Pick<OutboxRecord, 'payload' | 'sentAt'>,
  messageId: string,
  env: Env,
): Promise<Encrypted | null> {
  const state = transaction.conversation.pending === 'none' ? await stateForAll(transaction) : null;
  if (state === null || (await needsHealing(transaction, env.now()))) return null;
  return encrypt(transaction, state, message, messageId, env);
}

/** Encrypts a message with the header of what this device has read by now. */
export function encrypt(
  { chain, conversation }: ConversationTransaction,
  state: MlsGroup,
  { payload, sentAt }: Pick<OutboxRecord, 'payload' | 'sentAt'>,
  messageId: string,
  env: Env,
): Encrypted {
  const header = chain.header(sentAt);
  const plaintext = withChainHeader(header, payloadBytes(payload));
  const ciphertext = encryptApplication(state.group, plaintext, encoder.encode(messageId), env);
  state.accept();
  conversation.sentSinceCommit++;
  return { ciphertext, headerAt: header.position };
}

/** Returns whether what waits already is the same: each encoding has a salt of its own. */
function isSame(
  { payload, sentAt }: Pick<OutboxRecord, 'payload' | 'sentAt'>,
  again: { readonly payload: string | undefined; readonly sentAt: string },
): boolean {
  return sentAt === again.sentAt && (again.payload === undefined || saysTheSame(payload, again.payload));
}

/** Returns a message of the outbox as it is shown, or the one that it changes. */
export async function viewWaiting(
  tx: Transaction,
  account: UnlockedAccount,
  messageId: string,
  { record, row }: Waiting,
): Promise<MessageView> {
  const { conversationId } = row;
  const views = new MessageViews(tx, account, conversationId);
  const view = await views.shownBy({ waiting: views.waitingMessage(messageId, row, record) });
  return view ?? changeView(account, conversationId, messageId, record);
}

/**
 * Fails the messages that the relay said it has stored, at positions where this device has read other entries by now: it has gone back
 * behind them, or never stored them, and nobody gets them as they are. Those from before this device came in, it will never read: the
 * relay's word is kept.
 */
export async function failUnstored(
  { account, conversation, tx }: ConversationTransaction,
  views: MessageViews,
): Promise<MessageView[]> {
  if (conversation.membership !== 'member') return [];
  const failed: MessageView[] = [];
  for (const { messageId, record: waiting, row } of await views.waiting()) {
    const { seq, status } = waiting;
    if (status !== 'sent' || seq === null || seq > conversation.lastSeq) continue;
    if (seq <= conversation.joinedSeq) {
      await keepSent(tx, account, messageId, row, waiting);
      continue;
    }
    const failure = { status: 'failed', failure: 'position-taken', seq: null, timestamp: null } as const;
    const record: OutboxRecord = { ...waiting, ...failure, acceptedAt: null };
    await putInOutbox(tx, account, messageId, row, record);
    failed.push(await viewWaiting(tx, account, messageId, { record, row }));
  }
  return failed;
}

export function changeView(
  account: UnlockedAccount,
  conversationId: string,
  messageId: string,
  record: OutboxRecord,
): MessageView {
  return { ...outboxView(account, conversationId, messageId, record), isChange: true };
}

/**
 * Returns the group where something may go to all of its devices as they are: null for one outside, and where the person is to be asked
 * first, or a commit takes somebody out before.
 */
export async function stateForAll(transaction: ConversationTransaction): Promise<MlsGroup | null> {
  const { isDoubted, membership, refusal } = transaction.conversation;
  const group = await transaction.group();
  const isSettled = refusal === null && !isDoubted && (group === null || awaitedIds(group).length === 0);
  const state = membership === 'member' && isSettled ? await transaction.state() : null;
  if (state === null) return null;
  const [isKnown, changes] = await Promise.all([
    isPeerKnown(transaction, state),
    dueChanges(transaction, state),
  ]);
  return isKnown && !isDue(changes) ? state : null;
}

/**
 * Returns whether the other person's account key is settled: none is offered, and their devices in the
 * direct conversation are those under the present one.
 */
export async function isPeerKnown(transaction: ConversationTransaction, state: MlsGroup): Promise<boolean> {
  const { conversationId, account, tx } = transaction;
  const peer = peerOf(conversationId, account.userId);
  if (peer === null) return true;
  const pin = await readPin(tx, account, peer);
  if (pin === null || (pin.offered === null && pin.former.length === 0)) return true;
  return pin.offered === null && !(await lacksPresentDevices(transaction, state));
}

export async function needsHealing(transaction: ConversationTransaction, now: number): Promise<boolean> {
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

export function readyMessage(
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

export async function find(
  tx: Transaction,
  account: UnlockedAccount,
  messageId: string,
): Promise<Waiting | null> {
  const row = await tx.objectStore('outbox').get(messageId);
  return row === undefined ? null : { row, record: openOutbox(account, messageId, row) };
}
