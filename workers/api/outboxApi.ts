import type { CommitSubmission, MessageView, WireBytes } from './cryptoApi.ts';

/** The ciphertext of a queued message. */
export interface ReadyMessage {
  readonly kind: 'message';
  readonly conversationId: string;
  readonly messageId: string;
  readonly epoch: number;
  readonly content: WireBytes;
}

export interface QueuedMessage {
  readonly message: MessageView;
  /**
   * For a message that nothing has to go before: what {@link OutboxApi.prepareMessage} would answer now. Only to be sent
   * at once; later something may have to go first.
   */
  readonly ready: ReadyMessage | null;
}

/** What to send next for a queued message. */
export type PreparedMessage =
  | ReadyMessage
  /**
   * A commit must go first: submit it, process the log, then prepare again. Either the healing of PROTOCOL section 4,
   * or the removal of somebody who has left, or an own commit that the log hasn't shown yet: submitting that twice is
   * harmless (the relay refuses the second as stale), and after a lost answer or a killed tab it is what brings it on
   * its way again.
   */
  | { readonly kind: 'commit'; readonly submission: CommitSubmission }
  /** An own external commit waits for its place in the log: process the log, then prepare again. */
  | { readonly kind: 'wait' }
  /** No membership (`outside` or `forked`): start or join the conversation, then prepare again. */
  | { readonly kind: 'outside' }
  /** The log already has it (an earlier attempt got through): nothing to send. */
  | { readonly kind: 'sent'; readonly message: MessageView };

/** A message is kept, sealed, from the moment it is written until the log has it. */
export interface OutboxApi {
  /** The same message again is the one already there. Errors: `usage` for no text, too much of it, or an id in use. */
  queueMessage(input: {
    conversationId: string;
    messageId: string;
    text: string;
    sentAt: string;
  }): Promise<QueuedMessage>;
  /** Encrypts once per epoch: asked again in the same epoch it answers the same ciphertext. Errors: `not-found`. */
  prepareMessage(messageId: string): Promise<PreparedMessage>;
  messageAccepted(messageId: string, accepted: { seq: number; timestamp: string }): Promise<MessageView>;
  messageFailed(messageId: string, code: string): Promise<MessageView>;
  /** If its ciphertext reached the log after all, it is shown like any other. Errors: `usage` for one that was sent. */
  discardMessage(messageId: string): Promise<void>;
  /** All messages of this browser that the log hasn't returned yet, oldest first. */
  outbox(): Promise<MessageView[]>;
}
