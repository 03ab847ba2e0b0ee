import type { MessageView } from './chats.ts';

/**
 * The time that is shown of a message (RFC 3339): the sender's, else the relay's, and then the sender's beside it. The
 * order is the log's, whatever they say.
 */
export interface MessageTime {
  readonly shown: string;
  /** The sender's clock, where it is not believed; null where there is nothing to say of it. */
  readonly byClock: string | null;
}

export function messageTime({ clock, timestamp }: Pick<MessageView, 'clock' | 'timestamp'>): MessageTime {
  if (clock === undefined) return { shown: timestamp, byClock: null };
  return clock.isBelieved
    ? { shown: clock.sentAt, byClock: null }
    : { shown: timestamp, byClock: clock.sentAt };
}
