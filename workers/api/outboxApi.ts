import type { WireBytes } from '../codec/base64url.ts';
import type { CommitSubmission, ConversationState, MessageView } from './conversationsApi.ts';
import type { SendFailure } from './sendFailures.ts';

/** A queued message with its ciphertext. */
export interface ReadyMessage {
  readonly kind: 'message';
  readonly conversationId: string;
  readonly messageId: string;
  readonly epoch: number;
  readonly content: WireBytes;
  /** The start to name with it; null while none is known to be registered, which has to come first. */
  readonly start: WireBytes | null;
}

/** A change of a message, which is named by its message id, one in the outbox too. */
export type MessageChange =
  /** Another text in the place of an own one that was not deleted. */
  | { readonly kind: 'edit'; readonly of: string; readonly text: string }
  /** Deletes an own message for everybody. */
  | { readonly kind: 'deletion'; readonly of: string }
  /** Given, or taken back with `isTaken`; each emoji once a person. */
  | { readonly kind: 'reaction'; readonly of: string; readonly emoji: string; readonly isTaken: boolean };

export interface QueuedMessage {
  /** The message, or the one that it changes. */
  readonly message: MessageView;
  /**
   * The answer that {@link OutboxApi.prepareMessage} would give now, where nothing has to go first. Send it
   * at once: later something may have to.
   */
  readonly ready: ReadyMessage | null;
  /** The conversation's state with the message in it. */
  readonly state: ConversationState;
}

/** The next thing to send for a queued message. */
export type PreparedMessage =
  | ReadyMessage
  /**
   * A commit must go first: submit it, process the log, then prepare again. It is either the healing of
   * PROTOCOL section 4, or the removal of somebody who left or of a revoked device, or the pending commit.
   * Submitting that twice is harmless, since the relay refuses the second one as stale; after a lost answer
   * or a killed tab it has to be.
   */
  | { readonly kind: 'commit'; readonly submission: CommitSubmission }
  /** An own external commit is pending: process the log, then prepare again. */
  | { readonly kind: 'wait' }
  /** This device is no member (`outside` or `forked`): start or join the conversation, then prepare again. */
  | { readonly kind: 'outside' }
  /** The log already has the message, since an earlier attempt got through: there is nothing to send. */
  | { readonly kind: 'sent'; readonly message: MessageView };

/**
 * The part of the worker's API for the outbox, which keeps a message, sealed, from its writing until the log
 * has it.
 */
export interface OutboxApi {
  /**
   * Queues a message, once for each id; for `self:<user id>` a note. Errors: `usage` for no text, too much of it, or an id
   * that another message has; `unknown-message` where what it answers isn't here or was deleted.
   */
  queueMessage(input: {
    conversationId: string;
    messageId: string;
    text: string;
    /** Message id of what it answers. */
    inReplyTo?: string;
    /** It says that it was passed on, and nothing of where from. */
    isForwarded?: boolean;
    /** The format of the text; without it, Markdown where it looks like it. */
    isMarkdown?: boolean;
    sentAt: string;
  }): Promise<QueuedMessage>;
  /**
   * Queues a change of a message, as {@link queueMessage} does a message. Errors: as there, and `not-author` for an edit or a
   * deletion of somebody else's.
   */
  queueChange(input: {
    conversationId: string;
    /** The id of the change itself. */
    messageId: string;
    change: MessageChange;
    sentAt: string;
  }): Promise<QueuedMessage>;
  /**
   * Encrypts a message, once per epoch: asked again in the same one, answers the same ciphertext. Errors:
   * `unknown-message`, `members-in-doubt` (see `unvouchedIds`).
   */
  prepareMessage(messageId: string): Promise<PreparedMessage>;
  /**
   * Takes the relay's word that it has stored a message, until the log shows it. Errors: `unknown-message` for one that is
   * discarded, `position-taken`.
   */
  messageAccepted(messageId: string, accepted: { seq: number; timestamp: string }): Promise<MessageView>;
  messageFailed(messageId: string, code: SendFailure): Promise<MessageView>;
  /**
   * Discards a message, and answers the state of its conversation without it; null for one that the outbox
   * doesn't have. If its ciphertext reached the log after all, it is shown like any other. Errors: `usage` for
   * one that was sent.
   */
  discardMessage(messageId: string): Promise<ConversationState | null>;
  /**
   * Finds a message or a change of one's own by its message id. In the outbox it may still reach the log, also where it was
   * discarded; null for one that is in neither, and will not come any more.
   */
  messagePlace(conversationId: string, messageId: string): Promise<'log' | 'outbox' | null>;
  /**
   * The person sends in a direct conversation although what was shown differs: `isDoubted` falls, until something else is
   * found. Or in a group although it holds people whom nobody has vouched for: `unvouchedIds` is empty then.
   */
  sendAnyway(conversationId: string): Promise<ConversationState>;
  /**
   * Lists the messages, of one conversation or of all, that the log hasn't shown yet, oldest first. For
   * `self:<user id>` these are also what tells own devices of keys, reading and drafts, of content `unknown`.
   */
  outbox(conversationId?: string): Promise<MessageView[]>;
}
