/** Views of what is stored: the preserved-message cache and the state of a conversation. */
import type { ConversationState, GroupFacts, MessageContent, MessageView } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import type { Person } from '../session/session.ts';
import { type MessageRow, type OutboxRow, type Transaction, withinConversation } from '../storage/db.ts';
import {
  GroupRecord,
  type HeadRecord,
  MembersRecord,
  MessageRecord,
  OutboxRecord,
  readHead,
  sealingKey,
} from '../storage/records.ts';
import { isNameDue } from './groupRecord.ts';
import { payloadContent } from './payload.ts';

export function messageView(
  conversationId: string,
  seq: number,
  messageId: string,
  record: MessageRecord,
): MessageView {
  return {
    conversationId,
    messageId,
    seq,
    senderId: record.senderId,
    senderDeviceId: record.senderDeviceId,
    timestamp: record.timestamp,
    status: record.own ? 'sent' : 'received',
    content: messageContent(record),
  };
}

function messageContent({ payload, reason }: MessageRecord): MessageContent {
  if (payload !== null) return payloadContent(payload);
  return { kind: 'undecryptable', reason: reason ?? 'damaged' };
}

export function outboxView(
  person: Person,
  conversationId: string,
  messageId: string,
  record: OutboxRecord,
): MessageView {
  return {
    conversationId,
    messageId,
    seq: record.seq,
    senderId: person.userId,
    senderDeviceId: person.device?.deviceId ?? '',
    timestamp: record.timestamp ?? record.sentAt,
    // A discarded message is shown to nobody; whoever looks at it anyway sees that it wasn't sent.
    status: record.status === 'discarded' ? 'failed' : record.status,
    ...(record.failure === null ? {} : { failure: record.failure }),
    content: payloadContent(record.payload),
  };
}

export function openMessage(
  person: Person,
  conversationId: string,
  seq: number,
  row: MessageRow,
): MessageRecord {
  return person.sealer.open('messages', sealingKey(conversationId, seq), row.sealed, MessageRecord);
}

export function openOutbox(person: Person, messageId: string, row: OutboxRow): OutboxRecord {
  return person.sealer.open('outbox', messageId, row.sealed, OutboxRecord);
}

/** The message of that id in the log, if this device has it. */
export async function findMessage(
  tx: Transaction,
  person: Person,
  messageId: string,
): Promise<MessageView | null> {
  const index = tx.objectStore('messages').index('messageId');
  const [key, row] = await Promise.all([index.getKey(messageId), index.get(messageId)]);
  if (key === undefined || row === undefined) return null;
  const [conversationId, seq] = key;
  return messageView(conversationId, seq, messageId, openMessage(person, conversationId, seq, row));
}

/** The newest messages below `before` (or of all), ascending. */
export async function newestMessages(
  tx: Transaction,
  person: Person,
  conversationId: string,
  before: number | undefined,
  limit: number,
): Promise<MessageView[]> {
  const range =
    before === undefined
      ? withinConversation(conversationId)
      : IDBKeyRange.bound([conversationId], [conversationId, before], false, true);
  const views = await messagesFrom(tx, person, range, 'prev', limit);
  return views.reverse();
}

/** The oldest messages above `after`, ascending. */
export async function oldestMessages(
  tx: Transaction,
  person: Person,
  conversationId: string,
  after: number,
  limit: number,
): Promise<MessageView[]> {
  const range = IDBKeyRange.bound([conversationId, after], [conversationId, []], true, true);
  return messagesFrom(tx, person, range, 'next', limit);
}

async function messagesFrom(
  tx: Transaction,
  person: Person,
  range: IDBKeyRange,
  direction: 'next' | 'prev',
  limit: number,
): Promise<MessageView[]> {
  const views: MessageView[] = [];
  let cursor = await tx.objectStore('messages').openCursor(range, direction);
  while (cursor !== null && views.length < limit) {
    const { messageId } = cursor.value;
    const [conversationId, seq] = cursor.key;
    views.push(
      messageView(conversationId, seq, messageId, openMessage(person, conversationId, seq, cursor.value)),
    );
    if (views.length < limit) cursor = await cursor.continue();
  }
  return views;
}

/** Messages of other people above the read position, counted up to the limit. */
export async function countUnread(
  tx: Transaction,
  person: Person,
  conversationId: string,
  readSeq: number,
): Promise<number> {
  const range = IDBKeyRange.bound([conversationId, readSeq], [conversationId, []], true, true);
  let count = 0;
  let cursor = await tx.objectStore('messages').openCursor(range);
  while (cursor !== null && count < limits.unread) {
    const [, seq] = cursor.key;
    if (openMessage(person, conversationId, seq, cursor.value).senderId !== person.userId) count++;
    cursor = await cursor.continue();
  }
  return count;
}

export async function conversationState(
  tx: Transaction,
  person: Person,
  conversationId: string,
  head: HeadRecord,
): Promise<ConversationState> {
  const [sealedMembers, sealedGroup, lastMessage] = await Promise.all([
    tx.objectStore('members').get(conversationId),
    tx.objectStore('groups').get(conversationId),
    newestMessage(tx, person, conversationId),
  ]);
  const members =
    sealedMembers === undefined
      ? []
      : person.sealer.open('members', conversationId, sealedMembers, MembersRecord);
  return {
    conversationId,
    status: statusOf(head),
    epoch: head.epoch,
    lastSeq: head.lastSeq,
    joinedSeq: head.joinedSeq,
    readSeq: head.readSeq,
    peerReadSeq: head.peerReadSeq,
    unread: head.unread,
    lastMessage,
    members,
    joinedAt: head.joinedAt,
    group: sealedGroup === undefined ? null : groupFacts(person, conversationId, sealedGroup),
    ...(head.membership === 'forked' && head.refusal !== null ? { refusal: head.refusal } : {}),
  };
}

function groupFacts(person: Person, conversationId: string, sealed: Uint8Array): GroupFacts {
  const record = person.sealer.open('groups', conversationId, sealed, GroupRecord);
  const { name, creatorId, departures } = record;
  return {
    name,
    creatorId,
    departedIds: departures.map(({ userId }) => userId),
    nameDue: isNameDue(record),
  };
}

/** Every conversation that has a state here. */
export async function allConversations(tx: Transaction, person: Person): Promise<ConversationState[]> {
  const states: ConversationState[] = [];
  for (const conversationId of await tx.objectStore('heads').getAllKeys()) {
    const head = await readHead(tx, person.sealer, conversationId);
    states.push(await conversationState(tx, person, conversationId, head));
  }
  return states;
}

function statusOf(head: HeadRecord): ConversationState['status'] {
  if (head.membership === 'member') return 'joined';
  if (head.membership === 'forked') return 'forked';
  return head.pending === 'start' ? 'starting' : 'outside';
}

async function newestMessage(
  tx: Transaction,
  person: Person,
  conversationId: string,
): Promise<MessageView | null> {
  const [[logged], waiting] = await Promise.all([
    newestMessages(tx, person, conversationId, undefined, 1),
    newestInOutbox(tx, person, conversationId),
  ]);
  if (logged === undefined || waiting === null) return logged ?? waiting;
  return Date.parse(waiting.timestamp) > Date.parse(logged.timestamp) ? waiting : logged;
}

async function newestInOutbox(
  tx: Transaction,
  person: Person,
  conversationId: string,
): Promise<MessageView | null> {
  const index = tx.objectStore('outbox').index('conversation');
  let cursor = await index.openCursor(withinConversation(conversationId), 'prev');
  while (cursor !== null) {
    const record = openOutbox(person, cursor.primaryKey, cursor.value);
    if (record.status !== 'discarded') return outboxView(person, conversationId, cursor.primaryKey, record);
    cursor = await cursor.continue();
  }
  return null;
}
