import {
  directConversationId,
  groupConversationId,
  type SentMessage,
  selfConversationId,
} from '../../contract/index.ts';
import { sessionExpired } from '../auth/accessTokens.ts';
import { deviceRequired, type Sender } from '../auth/session.ts';
import { recoverySession } from '../auth/sessions.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, quotaReached } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import { findEpoch } from '../repositories/conversations.ts';
import type { EntryHead } from '../repositories/entries.ts';
import type { AppendRefused, NewEntry } from './append/append.ts';
import type { AppendQueue } from './append/queue.ts';
import { publish, timeText } from './events.ts';
import type { MessageContent, NewGroupMessage, NewMessage } from './newEntries.ts';
import { noSuchConversation, noSuchPerson, notAContact } from './permissions.ts';

export interface SendDependencies {
  readonly appends: Pick<AppendQueue, 'append'>;
  readonly hub: Hub;
}

/** See Messaging.send. */
export function send(
  dependencies: SendDependencies,
  sender: Sender,
  message: NewMessage,
): Promise<SentMessage> {
  const { recipientId } = message;
  if (recipientId === sender.userId) {
    const conversationId = selfConversationId(recipientId);
    return append(dependencies, sender, { conversationId, recipientId: null, groupId: null }, message);
  }
  const conversationId = directConversationId(sender.userId, recipientId);
  return append(dependencies, sender, { conversationId, recipientId, groupId: null }, message);
}

/** See Messaging.sendToGroup. */
export function sendToGroup(
  dependencies: SendDependencies,
  sender: Sender,
  message: NewGroupMessage,
): Promise<SentMessage> {
  const { groupId } = message;
  const conversationId = groupConversationId(groupId);
  return append(dependencies, sender, { conversationId, recipientId: null, groupId }, message);
}

interface Destination extends Pick<NewEntry, 'conversationId' | 'recipientId'> {
  readonly groupId: string | null;
}

async function append(
  { appends, hub }: SendDependencies,
  sender: Sender,
  { conversationId, recipientId, groupId }: Destination,
  { messageId, epoch, content, start }: MessageContent,
): Promise<SentMessage> {
  const entry: NewEntry = {
    conversationId,
    recipientId,
    messageId,
    epoch,
    content,
    senderId: sender.userId,
    sessionId: sender.id,
    start: start ?? null,
  };
  const outcome = await appends.append(entry);
  if (outcome.type === 'refused') throw refusal(outcome);
  const { seq, delivery } = outcome;
  const timestamp = timeText(outcome.createdAt);
  if (delivery !== null) {
    const encoded = {
      conversationId,
      seq,
      id: messageId,
      kind: 'application',
      epoch,
      senderId: sender.userId,
      senderDeviceId: delivery.senderDeviceId,
      content: canonical(content),
      timestamp,
    } as const;
    publish(hub, encoded, { groupId, userIds: delivery.userIds });
  }
  return { id: messageId, seq, epoch: outcome.epoch, timestamp };
}

/**
 * The one base64url text of these bytes, as the log returns it: in its last character some bits mean nothing.
 */
function canonical(content: string): string {
  const rest = content.length % 4;
  if (rest === 0) return content;
  const end = content.slice(-rest);
  const canonicalEnd = Buffer.from(end, 'base64url').toString('base64url');
  return end === canonicalEnd ? content : content.slice(0, -rest) + canonicalEnd;
}

export const anotherStart = () => new ApiError('another-start', 'This device has been started again since.');

export const messagesFull = () =>
  quotaReached(
    'messages',
    'The server keeps no more messages of yours for now. There is room again as others receive what you have sent, and as it gets too old.',
  );

export const enoughToday = () =>
  quotaReached(
    'entries',
    'You have sent as many messages as the server takes in a day. It takes more tomorrow.',
  );

const refusals: Readonly<Record<AppendRefused['code'], (epoch: number) => ApiError>> = {
  'session-expired': sessionExpired,
  'recovery-session': recoverySession,
  'device-required': deviceRequired,
  'not-a-contact': notAContact,
  'no-such-person': noSuchPerson,
  'no-such-conversation': noSuchConversation,
  'message-id-taken': () => new ApiError('message-id-taken', 'This message id is already in use.'),
  'another-start': anotherStart,
  quota: messagesFull,
  'quota-of-day': enoughToday,
  'stale-epoch': movedOn,
};

const refusal = ({ code, epoch = 0 }: AppendRefused): ApiError => refusals[code](epoch);

/** The answer to the sender of an entry. */
export function receipt(entry: EntryHead): SentMessage {
  return { id: entry.id, seq: entry.seq, epoch: entry.epoch, timestamp: timeText(entry.createdAt) };
}

/** Carries the current epoch; 0 says that the conversation has yet to be started, by a commit. */
export async function staleEpoch(db: Db, conversationId: string): Promise<ApiError> {
  return movedOn((await findEpoch(db, conversationId)) ?? 0);
}

function movedOn(epoch: number): ApiError {
  return new ApiError('stale-epoch', 'The conversation has moved on. Update and send again.', { epoch });
}
