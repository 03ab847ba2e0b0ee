/** The part of a conversation's record that its members agree on, in the context of its group (PROTOCOL section 4). */
import { MAX_PINNED_MESSAGES } from '@sinetti/crypto-core/content';
import { array, type Guarded, integer, object, string, withDefault } from '../codec/guards.ts';

/** A MIMI message id in base64url. */
export const contentId = string(43, /^[A-Za-z0-9_-]{43}$/);

export const agreedFields = {
  /** Seconds after which messages disappear; 0 for never. */
  timer: withDefault(integer(0), 0),
  /** Content ids of the pinned messages, the one that was pinned last at the end. */
  pinned: withDefault(array(contentId, MAX_PINNED_MESSAGES), []),
} as const;

const AgreedRecord = object(agreedFields);
/** All that the members of a conversation agree on. */
export type Agreed = Readonly<Guarded<typeof AgreedRecord>>;

export const nothingAgreed: Agreed = { timer: 0, pinned: [] };
