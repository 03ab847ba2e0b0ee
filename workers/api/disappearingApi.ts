import type { CommitSubmission } from './conversationsApi.ts';

/** The outcome of erasing what is over. */
export interface Disappeared {
  /** Ids of those asked about that nothing shows any more. */
  readonly gone: readonly string[];
  /** Milliseconds until the next message that has been read is over; null without one. */
  readonly nextIn: number | null;
}

/** The part of the worker's API for messages that disappear. */
export interface DisappearingApi {
  /**
   * Makes the commit that brings a conversation nearer to a timer: call it, submit and process the log until it answers null.
   * What is due goes first. Errors: `usage` for a device outside, for a time that none can have, and among own devices;
   * `invalid-proposal` where a device in it is too old to know of timers.
   * @param seconds after which messages disappear, from the next one on; 0 for never
   */
  setTimer(conversationId: string, seconds: number): Promise<CommitSubmission | null>;
  /**
   * Erases all messages whose time is over: texts, files' keys, edits, reactions and what waits of them.
   * @param shown ids of messages on screen, of which it says which are gone
   */
  expireMessages(shown: readonly string[]): Promise<Disappeared>;
}
