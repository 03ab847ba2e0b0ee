import type { CryptoApiErrorCode } from './errors.ts';

/** A change that a conversation's log shows beside messages. */
export interface ConversationEvent {
  readonly conversationId: string;
  readonly seq: number;
  /** The committer, as the relay says; of what a message's header shows, its sender. */
  readonly senderId: string;
  readonly senderDeviceId: string;
  /** RFC 3339: the relay's time. */
  readonly timestamp: string;
  readonly change: ConversationChange;
}

export type ConversationChange =
  /** People whom a commit added to a group's keys, and removed from them. */
  | { readonly kind: 'members'; readonly added: readonly string[]; readonly removed: readonly string[] }
  /** A commit that this device did not follow, and the code it was refused with. */
  | { readonly kind: 'refused'; readonly code: CryptoApiErrorCode }
  /** This device had forked and came back; people were added and removed meanwhile. */
  | { readonly kind: 'rejoined'; readonly added: readonly string[]; readonly removed: readonly string[] }
  /** This device was out of the group, and was added again. */
  | { readonly kind: 'returned' }
  /** The sender's header counts more entries of that device than were given here; 100 is that many or more. */
  | { readonly kind: 'missing'; readonly count: number }
  /**
   * Messages from this position to `upTo` that the relay had deleted before this device read them; a count of 0 among own
   * devices, where few of them are notes.
   */
  | { readonly kind: 'expired'; readonly count: number; readonly upTo: number }
  /** Likewise, but the relay can't have deleted all of them by its own rules: one of the entries was too young. */
  | { readonly kind: 'withheld'; readonly count: number; readonly upTo: number }
  /** The sender was given another log than this device, or this device was given one twice in two ways. */
  | { readonly kind: 'diverged' }
  /** Seconds after which messages disappear from here on; 0 for never. */
  | { readonly kind: 'timer'; readonly seconds: number }
  /** A message that was pinned for everybody, or is pinned no more. */
  | { readonly kind: 'pinned'; readonly isPinned: boolean };
