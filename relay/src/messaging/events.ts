import type { IncomingEvent } from '../../contract/index.ts';
import type { EntryRow } from '../repositories/entries.ts';

/** JSON bytes. Below the MQTT packet limit of 256 KiB with room for the rest of the packet. */
const maxInlineEvent = 200 * 1024;

/** What a device is told of a new entry: the entry, or that it is there to fetch if no packet can hold it. */
export function entryEvent(entry: EntryRow): IncomingEvent {
  const event: IncomingEvent = {
    type: entry.kind === 'application' ? 'message' : 'commit',
    conversationId: entry.conversationId,
    messageId: entry.id,
    senderId: entry.senderId,
    senderDeviceId: entry.senderDeviceId,
    seq: entry.seq,
    epoch: entry.epoch,
    content: entry.content.toString('base64url'),
    timestamp: new Date(entry.createdAt).toISOString(),
  };
  // Every value in it is ASCII, so characters are bytes.
  return JSON.stringify(event).length <= maxInlineEvent
    ? event
    : { type: 'available', conversationId: entry.conversationId, seq: entry.seq };
}
