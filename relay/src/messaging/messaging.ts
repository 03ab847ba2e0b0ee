import type { SentMessage } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';

/** An application message as REST and MQTT hand it over, checked against its schema. */
export interface NewMessage {
  /** The sender's UUID for it, and the idempotency key. */
  readonly messageId: string;
  readonly recipientId: string;
  /** The MLS epoch it was encrypted in. */
  readonly epoch: number;
  /** base64url of an MLSMessage. */
  readonly content: string;
}

/** What happens to messages, whichever protocol asks for it. Every promise resolves after the database has committed. */
export interface Messaging {
  /**
   * Appends an application message to the direct conversation with its recipient, then tells every device of both.
   * Repeating a messageId answers the entry that exists.
   * @throws ApiError not-found, not-a-contact, stale-epoch (with the current epoch), message-id-taken
   */
  send(sender: DeviceSession, message: NewMessage): Promise<SentMessage>;
}
