/** Entries of a log as the worker takes them, by whichever way they came. */
import type { LogEntryInput } from '../../crypto/client.ts';
import type { Api, LogPage } from '../../net/api.ts';
import type { IncomingEvent } from '../../net/contract.ts';
import { groupOf, recipientOf } from '../core/conversationIds.ts';

export type EntryEvent = Extract<IncomingEvent, { type: 'message' | 'commit' }>;

export function fromEvent(event: EntryEvent): LogEntryInput {
  return {
    id: event.messageId,
    seq: event.seq,
    epoch: event.epoch,
    kind: event.type === 'message' ? 'application' : 'commit',
    sender_id: event.senderId,
    sender_device_id: event.senderDeviceId,
    content: event.content,
    timestamp: event.timestamp,
  };
}

/** Only what the worker needs; the rest of an entry stays out of it. */
export function toInput(entry: LogEntryInput): LogEntryInput {
  const { id, seq, epoch, kind, sender_id, sender_device_id, content, timestamp, digest, expired } = entry;
  return { id, seq, epoch, kind, sender_id, sender_device_id, content, timestamp, digest, expired };
}

/** Asks for a page of a conversation's log; empty for other people's conversation. */
export async function listEntries(api: Api, ownUserId: string, conversationId: string, query: LogPage) {
  const groupId = groupOf(conversationId);
  if (groupId !== null) return api.listGroupMessages(groupId, query);
  const recipient = recipientOf(conversationId, ownUserId);
  return recipient === null ? [] : api.listUserMessages(recipient, query);
}
