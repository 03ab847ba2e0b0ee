import { groupOf, type IncomingEvent } from '../../contract/index.ts';
import type { Hub } from '../realtime/hub.ts';
import type { EntryRow } from '../repositories/entries.ts';
import type { Audience } from './permissions.ts';

/** JSON bytes. Below the MQTT packet limit of 256 KiB with room for the rest of the packet. */
const maxInlineEvent = 200 * 1024;

/** The people whose devices are told of an entry. */
type Hearers = Pick<Audience, 'groupId' | 'userIds'>;

/** An entry with its content and its time as text, as its event has them. */
export type EncodedEntry = Omit<EntryRow, 'content' | 'createdAt'> & {
  /** base64url */
  readonly content: string;
  readonly timestamp: string;
};

/**
 * Publishes a new entry to everybody's devices. In a group the entry goes to who has the chat open, and to
 * all members only the event that there is one: a large group must not put every message onto every member's
 * own topic.
 */
export function publishEntry(hub: Hub, entry: EntryRow, audience: Hearers): void {
  const content = entry.content.toString('base64url');
  publish(hub, { ...entry, content, timestamp: timeText(entry.createdAt) }, audience);
}

/** Does the same as publishEntry, with an entry that is encoded already. */
export function publish(hub: Hub, entry: EncodedEntry, { groupId, userIds }: Hearers): void {
  if (groupId === null) return hub.publishToUsers(userIds, entryEvent(entry));
  hub.publishToGroup(groupId, entryEvent(entry));
  hub.publishToUsers(userIds, available(entry));
}

/** The event of a new entry: the entry itself, or that there is one to fetch if no packet can hold it. */
function entryEvent(entry: EncodedEntry): IncomingEvent {
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

function available({ conversationId, seq }: Pick<EncodedEntry, 'conversationId' | 'seq'>): IncomingEvent {
  return { type: 'available', conversationId, seq };
}

let lastTime = { time: Number.NaN, text: '' };

/** RFC 3339 of milliseconds since the epoch. All messages of a batch have one time. */
export function timeText(time: number): string {
  if (lastTime.time !== time) lastTime = { time, text: new Date(time).toISOString() };
  return lastTime.text;
}
