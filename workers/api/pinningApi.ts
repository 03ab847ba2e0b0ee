import type { CommitSubmission } from './conversationsApi.ts';

/** The part of the worker's API for messages that are pinned for everybody. `ConversationState` tells which are. */
export interface PinningApi {
  /**
   * Makes the commit that brings a conversation nearer to a message being pinned, or no more: call it, submit and process the log
   * until it answers null, as {@link DisappearingApi.setTimer}. Where as many are pinned as can be, it takes the place of one that
   * was deleted or is over, else of the one that was pinned first. Errors: `unknown-message` for one that isn't here or was
   * deleted, `usage` for one that waits, for a device outside, and among own devices; `invalid-proposal` where a device in it is
   * too old to know of pinned messages.
   */
  setPinned(conversationId: string, messageId: string, isPinned: boolean): Promise<CommitSubmission | null>;
}
