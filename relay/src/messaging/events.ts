import { groupOf, type IncomingEvent } from '../../contract/index.ts';
import type { Hub } from '../realtime/hub.ts';
import type { EntryRow } from '../repositories/entries.ts';
import type { Audience } from './permissions.ts';

/** JSON bytes. Below the MQTT packet limit of 256 KiB with room for the rest of the packet. */
const maxInlineEvent = 200 * 1024;

/** An entry as its event tells it: its content and its time as text. */
export type ToldEntry = Omit<EntryRow, 'content' | 'createdAt'> & {
  /** base64url */
  readonly content: string;
  readonly timestamp: string;
};

/**
 * Tells everybody's devices of a new entry. In a group the entry goes to who has the chat open; that there is one, to
 * everybody: a large group must not put every message onto every member's own topic.
 */
export function publishEntry(hub: Hub, entry: EntryRow, audience: Audience): void {
  const content = entry.content.toString('base64url');
  publish(hub, { ...entry, content, timestamp: timeText(entry.createdAt) }, audience);
}

/** As publishEntry, of an entry that is at hand as text. */
export function publish(hub: Hub, entry: ToldEntry, { groupId, userIds }: Audience): void {
  if (groupId === null) return hub.publishToUsers(userIds, entryEvent(entry));
  hub.publishToGroup(groupId, entryEvent(entry));
  hub.publishToUsers(userIds, available(entry));
}

/** What a device is told of a new entry: the entry, or that it is there to fetch if no packet can hold it. */
function entryEvent(entry: ToldEntry): IncomingEvent {
  // Every value in it is ASCII, so characters are bytes; what is not its content is a few hundred.
  if (entry.content.length > maxInlineEvent) return available(entry);
  const groupId = groupOf(entry.conversationId);
  return {
    type: entry.kind === 'application' ? 'message' : 'commit',
    conversationId: entry.conversationId,
    messageId: entry.id,
    senderId: entry.senderId,
    senderDeviceId: entry.senderDeviceId,
    ...(groupId === null ? {} : { groupId }),
    seq: entry.seq,
    epoch: entry.epoch,
    content: entry.content,
    timestamp: entry.timestamp,
  };
}

function available({ conversationId, seq }: Pick<ToldEntry, 'conversationId' | 'seq'>): IncomingEvent {
  return { type: 'available', conversationId, seq };
}

let lastTime = { time: Number.NaN, text: '' };

/** RFC 3339 of milliseconds since the epoch. All messages of a batch have one time. */
export function timeText(time: number): string {
  if (lastTime.time !== time) lastTime = { time, text: new Date(time).toISOString() };
  return lastTime.text;
}
