import type { MessageView } from './conversationsApi.ts';
import type { QueuedMessage } from './outboxApi.ts';

/** The part of the worker's API for stars, by which a person finds messages again. Own devices tell each other, and nobody else. */
export interface StarsApi {
  /**
   * Stars a message, or takes the star back: queues what tells the own devices, in their group. Null where nothing is to be done.
   * Errors: `unknown-message` for one that isn't here or was deleted, `stars-full` with as many as there can be.
   */
  setStar(input: {
    conversationId: string;
    /** Message id of the message. */
    of: string;
    isStarred: boolean;
    /** The id of what tells the devices. */
    messageId: string;
    sentAt: string;
  }): Promise<QueuedMessage | null>;
  /** Lists the starred messages that are here, the one that was starred last first. */
  starredMessages(): Promise<MessageView[]>;
}
