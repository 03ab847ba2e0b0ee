import type { ConversationEvent } from './cryptoApi.ts';

/** How a message stands in the log, as far as this device can know. */
export type LogEvidence =
  /** What another device had read, this message included, is what this one was given. */
  | { readonly kind: 'agreed' }
  /** Nothing was found, and nobody has written since who could confirm it. */
  | { readonly kind: 'open' }
  /** It is from before this device compares: from before it was let in, or before there were headers. */
  | { readonly kind: 'unknown' }
  /** What was found, at this message or at the first one that nobody has confirmed since. */
  | { readonly kind: 'finding'; readonly event: ConversationEvent };

/** What is known of a message beside its text. */
export interface MessageEvidence {
  readonly seq: number;
  readonly senderId: string;
  readonly senderDeviceId: string;
  readonly isThisDevice: boolean;
  /** The epoch it was encrypted in; null where that isn't known. */
  readonly epoch: number | null;
  /** The MLS suite of the conversation; null for a device outside. */
  readonly suite: number | null;
  readonly log: LogEvidence;
}

/** The part of the worker's API that says what speaks for what is on screen. */
export interface EvidenceApi {
  /** Errors: `unknown-message` where this device has none at that position. */
  messageEvidence(conversationId: string, seq: number): Promise<MessageEvidence>;
}
