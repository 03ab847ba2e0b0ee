import { groupOf, type IncomingEvent } from '../../contract/index.ts';
import type { Hub } from '../realtime/hub.ts';
import type { EntryRow } from '../repositories/entries.ts';
import type { Audience } from './permissions.ts';

/** JSON bytes. Below the MQTT packet limit of 256 KiB with room for the rest of the packet. */
const maxInlineEvent = 200 * 1024;

/**
 * Tells everybody's devices of a new entry. In a group the entry goes to who has the chat open; that there is one, to
 * everybody: a large group must not put every message onto every member's own topic.
 */
export function publishEntry(hub: Hub, entry: EntryRow, { groupId, userIds }: Audience): void {
  if (groupId === null) return hub.publishToUsers(userIds, entryEvent(entry));
  hub.publishToGroup(groupId, entryEvent(entry));
  hub.publishToUsers(userIds, available(entry));
}

/** What a device is told of a new entry: the entry, or that it is there to fetch if no packet can hold it. */
function entryEvent(entry: EntryRow): IncomingEvent {
  const groupId = groupOf(entry.conversationId);
  const event: IncomingEvent = {
    type: entry.kind === 'application' ? 'message' : 'commit',
    conversationId: entry.conversationId,
    messageId: entry.id,
    senderId: entry.senderId,
    senderDeviceId: entry.senderDeviceId,
    ...(groupId === null ? {} : { groupId }),
    seq: entry.seq,
    epoch: entry.epoch,
    content: entry.content.toString('base64url'),
    timestamp: new Date(entry.createdAt).toISOString(),
  };
  // Every value in it is ASCII, so characters are bytes.
  return JSON.stringify(event).length <= maxInlineEvent ? event : available(entry);
}

function available({ conversationId, seq }: EntryRow): IncomingEvent {
  return { type: 'available', conversationId, seq };
}
