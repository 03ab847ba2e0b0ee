import type { ConversationEvent } from './conversationEvent.ts';
import type { LogEntryInput } from './conversationsApi.ts';

/** How a message stands in the log, as far as this device can know. */
export type LogEvidence =
  /**
   * Another device had read the same log as this one, this message included. `confirmed` of the `others`, people in the
   * conversation by now, have said so themselves in a receipt; 0 where the word is that of a message alone, or of an own device.
   */
  | { readonly kind: 'agreed'; readonly confirmed: number; readonly others: number }
  /** Nothing was found, and nobody has written since who could confirm it. */
  | { readonly kind: 'open' }
  /** It is from before this device compares: from before it was let in, or before there were headers. */
  | { readonly kind: 'unknown' }
  /** The finding at this message, or at the first one that nobody has confirmed since. */
  | { readonly kind: 'finding'; readonly event: ConversationEvent };

/** A message's sender and times, and the evidence that others were given the same log. */
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
  /** The person who has pinned it, and when by the relay's clock (RFC 3339); null where it isn't pinned, or was before this device came, or came back. */
  readonly pinned: { readonly userId: string; readonly timestamp: string } | null;
}

/** A field of an MLS message that everybody can read who has its bytes (RFC 9420 section 6.3). */
export interface PublicField {
  readonly name: 'version' | 'wireFormat' | 'groupId' | 'epoch' | 'contentType' | 'authenticatedData';
  /** Bytes, those that say how long it is included. */
  readonly length: number;
  /** The name that the RFC gives it, a number, or the text that it is. */
  readonly value: string;
}

/** An own message as the relay gives it now, beside what this device has sent. */
export interface SentEvidence {
  /**
   * `same`: the entry is the one in this device's log, where it was found to be what this device had sent. `different`: it is
   * another one. `unknown`: this device has no record of that place any more, or hasn't sent what is there.
   */
  readonly match: 'same' | 'different' | 'unknown';
  /**
   * The fields with which its bytes begin, in their order; all that follow are ciphertext. Null where only the digest is left, or
   * the bytes are no PrivateMessage.
   */
  readonly fields: readonly PublicField[] | null;
}

/** The kinds of an entry's content: a message, or a change of one. */
export const seenKinds = ['text', 'files', 'reaction', 'edit', 'deletion'] as const;
export type SeenKind = (typeof seenKinds)[number];

/** An entry of the log as a device was given it. */
export interface SeenEntry {
  /** Null where the device can't say. */
  readonly userId: string | null;
  readonly deviceId: string;
  /** Null for anything but a message. */
  readonly messageId: string | null;
  /** The text, the caption or the emoji. Null where there is none, and where the file leaves texts out. */
  readonly text: string | null;
  /** Null where there is no message, or none that can be read, and where an older file doesn't say. */
  readonly kind: SeenKind | null;
}

/** The comparison of this device's log with the saved view of another device. */
export interface ViewComparison {
  /** The device that has signed the file. `savedAt` is by its clock (RFC 3339). */
  readonly author: { readonly userId: string; readonly deviceId: string; readonly savedAt: string };
  readonly result: /** The same entries at all positions that both have. */
    | { readonly kind: 'same'; readonly from: number; readonly upTo: number }
    /** The same up to a position, and not there. */
    | {
        readonly kind: 'parts';
        readonly position: number;
        readonly here: SeenEntry;
        readonly there: SeenEntry;
      }
    /** They have parted before the first position that both have. */
    | { readonly kind: 'earlier'; readonly position: number }
    /** No position that both have. */
    | { readonly kind: 'apart' };
}

/** The part of the worker's API that says what speaks for what is on screen. */
export interface EvidenceApi {
  /** Errors: `unknown-message` where this device has none at that position. */
  messageEvidence(conversationId: string, seq: number): Promise<MessageEvidence>;
  /** Compares an entry, as the relay gives it now, with what this device has sent. Changes nothing. */
  sentEvidence(conversationId: string, entry: LogEntryInput): Promise<SentEvidence>;
  /**
   * Returns the text of a file with what this device was given of a conversation, signed by it: digests, positions and
   * running hashes of the newest entries, and what was found. @param withTexts also the texts of messages
   */
  saveView(conversationId: string, withTexts: boolean): Promise<string>;
  /**
   * Compares such a file of another member, or of another device of this person's, with what this device was given. Errors:
   * `malformed` for no such file, `wrong-group` for one of another conversation, `bad-signature` for one that was changed,
   * `unknown-person` for one of nobody in the conversation, `invalid-credential` for one of another account key.
   */
  compareView(conversationId: string, file: string): Promise<ViewComparison>;
}
