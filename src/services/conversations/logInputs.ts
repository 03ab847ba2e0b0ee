/** Entries of a log as the worker takes them, by whichever way they came. */
import type { LogEntryInput } from '../../crypto/client.ts';
import type { IncomingEvent } from '../../net/contract.ts';

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
