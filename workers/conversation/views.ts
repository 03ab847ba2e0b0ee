/** Views of stored records for the worker's API: messages, and the state of a conversation. */
import { MAX_PINNED_MESSAGES } from '@sinetti/crypto-core/content';
import type { ConversationState, GroupState, MessageView } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import type { UnlockedAccount } from '../session/session.ts';
import { type MessageRow, type Transaction, withinConversation } from '../storage/db.ts';
import {
  awaitedIds,
  type ConversationRecord,
  GroupRecord,
  isNameDue,
  MembersRecord,
  readConversation,
} from '../storage/records.ts';
import { selfConversationId } from './conversationId.ts';
import { isOver, isShown, openMessage } from './messageView.ts';
import { MessageViews } from './messageViews.ts';
import { readPinned } from './pinned.ts';
import { hasReceipts, isReceiptDue, readReceipts } from './receiptRows.ts';

/** Finds the message of that id in the message cache, or the one that it changes; null if it isn't there. */
export async function findMessage(
  tx: Transaction,
  account: UnlockedAccount,
  messageId: string,
): Promise<MessageView | null> {
  const index = tx.objectStore('messages').index('messageId');
  const [key, row] = await Promise.all([index.getKey(messageId), index.get(messageId)]);
  if (key === undefined || row === undefined) return null;
  const [conversationId, seq] = key;
  const views = new MessageViews(tx, account, conversationId);
  return views.shownBy({ logged: views.open(seq, row) });
}

/** Reads the newest messages below `before` (or of all), ascending. */
export async function newestMessages(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
  before: number | undefined,
  limit: number,
): Promise<MessageView[]> {
  const range =
    before === undefined
      ? withinConversation(conversationId)
      : IDBKeyRange.bound([conversationId], [conversationId, before], false, true);
  const views = new MessageViews(tx, account, conversationId);
  return (await messagesFrom(tx, account, views, range, 'prev', limit)).reverse();
}

/** Reads the oldest messages above `after`, ascending. */
export async function oldestMessages(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
  after: number,
  limit: number,
): Promise<MessageView[]> {
  const range = IDBKeyRange.bound([conversationId, after], [conversationId, []], true, true);
  const views = new MessageViews(tx, account, conversationId);
  return messagesFrom(tx, account, views, range, 'next', limit);
}

async function messagesFrom(
  tx: Transaction,
  account: UnlockedAccount,
  views: MessageViews,
  range: IDBKeyRange,
  direction: 'next' | 'prev',
  limit: number,
): Promise<MessageView[]> {
  const found: MessageView[] = [];
  for await (const { row, seq } of messageRows(tx, range, direction)) {
    const view = await views.view(views.open(seq, row));
    if (view && isShown(account, view)) found.push(view);
    if (found.length >= limit) break;
  }
  return found;
}

/** The number of changes in a row behind which all are stepped over at once: anybody can send no end of them. */
const changesInARow = 16;

/** Returns the positions of what is only about other messages. */
async function changesIn(tx: Transaction, conversationId: string): Promise<ReadonlySet<number>> {
  const about = tx.objectStore('messages').index('about');
  return new Set((await about.getAllKeys(withinConversation(conversationId))).map(([, seq]) => seq));
}

/** Reads the rows of messages of one conversation, and none that is only about another one. */
async function* messageRows(
  tx: Transaction,
  range: IDBKeyRange,
  direction: 'next' | 'prev',
): AsyncGenerator<{ readonly seq: number; readonly row: MessageRow }> {
  const messages = tx.objectStore('messages');
  let changes: ReadonlySet<number> | null = null;
  let passed = 0;
  let cursor = await messages.openCursor(range, direction);
  while (cursor !== null) {
    const [conversationId, seq] = cursor.key;
    const isMessage = cursor.value.about === undefined;
    passed = isMessage ? 0 : passed + 1;
    if (isMessage) yield { seq, row: cursor.value };
    if (passed < changesInARow) cursor = await cursor.continue();
    else {
      changes ??= await changesIn(tx, conversationId);
      const step = direction === 'next' ? 1 : -1;
      let next = seq + step;
      while (changes.has(next)) next += step;
      cursor = await cursor.continue([conversationId, next]);
    }
  }
}

/** Counts the messages that a conversation shows. */
export async function countMessages(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
): Promise<number> {
  const range = withinConversation(conversationId);
  if (conversationId !== selfConversationId(account.userId)) {
    const messages = tx.objectStore('messages');
    const [all, changes] = await Promise.all([messages.count(range), messages.index('about').count(range)]);
    return all - changes;
  }
  const views = new MessageViews(tx, account, conversationId);
  return (await messagesFrom(tx, account, views, range, 'next', Number.POSITIVE_INFINITY)).length;
}

/** Counts the messages of other people above the read position, up to the limit. */
export async function countUnread(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
  readSeq: number,
): Promise<number> {
  if (conversationId === selfConversationId(account.userId)) return 0;
  const range = IDBKeyRange.bound([conversationId, readSeq], [conversationId, []], true, true);
  let count = 0;
  for await (const { row, seq } of messageRows(tx, range, 'next')) {
    const record = openMessage(account, conversationId, seq, row);
    if (record.senderId !== account.userId && !isOver(account, record)) count++;
    if (count >= limits.unread) break;
  }
  return count;
}

export async function conversationState(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
  conversation: ConversationRecord,
): Promise<ConversationState> {
  const views = new MessageViews(tx, account, conversationId);
  const [sealedMembers, sealedGroup, receipts, lastMessage] = await Promise.all([
    tx.objectStore('members').get(conversationId),
    tx.objectStore('groups').get(conversationId),
    readReceipts(tx, account, conversationId),
    newestMessage(tx, account, views, conversationId),
  ]);
  const pinned = await pinnedState(views, conversation);
  const members =
    sealedMembers === undefined
      ? []
      : account.sealer.open('members', conversationId, sealedMembers, MembersRecord);
  return {
    conversationId,
    status: statusOf(conversation),
    epoch: conversation.epoch,
    lastSeq: conversation.lastSeq,
    joinedSeq: conversation.joinedSeq,
    readSeq: conversation.readSeq,
    readHere: conversation.readHere,
    receipts,
    receiptDue:
      hasReceipts(account, conversationId, conversation, members.length) && isReceiptDue(conversation),
    unread: conversation.unread,
    lastMessage,
    members,
    joinedAt: conversation.joinedAt,
    linkFrom: conversation.linkFrom,
    timer: conversation.timer,
    ...pinned,
    isDoubted: conversation.isDoubted,
    group: sealedGroup === undefined ? null : groupFacts(account, conversationId, sealedGroup, members),
    ...(conversation.membership !== 'none' && conversation.refusal !== null
      ? { refusal: conversation.refusal }
      : {}),
  };
}

/** Looks for nothing where nothing is pinned, as in most conversations. */
async function pinnedState(
  views: MessageViews,
  { pinned }: Pick<ConversationRecord, 'pinned'>,
): Promise<Pick<ConversationState, 'pinned' | 'isPinnedFull'>> {
  if (pinned.length === 0) return { pinned: [], isPinnedFull: false };
  const { goneIds, shown } = await readPinned(views, pinned);
  return { pinned: shown, isPinnedFull: pinned.length - goneIds.length >= MAX_PINNED_MESSAGES };
}

function groupFacts(
  account: UnlockedAccount,
  conversationId: string,
  sealed: Uint8Array,
  members: MembersRecord,
): GroupState {
  const record = account.sealer.open('groups', conversationId, sealed, GroupRecord);
  const { name, creatorId, departures, distrustedKeys, uninvitedIds, withoutDeviceIds } = record;
  const isIn = (id: string) => members.some(({ userId }) => userId === id);
  return {
    name,
    creatorId,
    leavingIds: departures.map(({ userId }) => userId),
    withoutDeviceIds,
    unvouchedIds: awaitedIds(record).filter(isIn),
    removalDue:
      departures.length > 0 ||
      (creatorId === account.userId && (distrustedKeys.length > 0 || uninvitedIds.some(isIn))),
    nameDue: isNameDue(record),
  };
}

/** Reads the record of a conversation and returns its state. */
export async function storedState(
  tx: Transaction,
  account: UnlockedAccount,
  conversationId: string,
): Promise<ConversationState> {
  const conversation = await readConversation(tx, account.sealer, conversationId);
  return conversationState(tx, account, conversationId, conversation);
}

/** Returns the state of every conversation that has a record here. */
export async function allConversations(
  tx: Transaction,
  account: UnlockedAccount,
): Promise<ConversationState[]> {
  const conversationIds = await tx.objectStore('heads').getAllKeys();
  return Promise.all(conversationIds.map((conversationId) => storedState(tx, account, conversationId)));
}

function statusOf(conversation: ConversationRecord): ConversationState['status'] {
  if (conversation.membership === 'member') return 'joined';
  if (conversation.membership === 'forked') return 'forked';
  return conversation.pending === 'start' ? 'starting' : 'outside';
}

async function newestMessage(
  tx: Transaction,
  account: UnlockedAccount,
  views: MessageViews,
  conversationId: string,
): Promise<MessageView | null> {
  const [[logged], waiting] = await Promise.all([
    messagesFrom(tx, account, views, withinConversation(conversationId), 'prev', 1),
    newestInOutbox(account, views),
  ]);
  if (logged === undefined || waiting === null) return logged ?? waiting;
  return Date.parse(waiting.timestamp) > Date.parse(logged.timestamp) ? waiting : logged;
}

async function newestInOutbox(account: UnlockedAccount, views: MessageViews): Promise<MessageView | null> {
  const waiting = await views.waiting();
  for (let at = waiting.length - 1; at >= 0; at--) {
    const one = waiting[at];
    const view = one === undefined ? null : await views.waitingView(one);
    if (view !== null && isShown(account, view)) return view;
  }
  return null;
}
