/** The shapes of what a chat shows beside messages. */
import { cryptoApiErrorCodes } from '../api/errors.ts';
import {
  array,
  type Guarded,
  integer,
  nullable,
  object,
  oneOf,
  oneOfOr,
  string,
  withDefault,
} from '../codec/guards.ts';
import { contentId } from './agreedRecord.ts';

const id = string(128);

/** The event of an entry of the log. */
export const EventRecord = object({
  kind: oneOf(
    'members',
    'refused',
    'rejoined',
    'returned',
    'missing',
    'expired',
    'withheld',
    'diverged',
    'timer',
    'pinned',
  ),
  senderId: id,
  senderDeviceId: id,
  timestamp: string(64),
  /** With `refused`: the code of the refusal. */
  code: nullable(oneOfOr('internal', cryptoApiErrorCodes)),
  /** The people who were added to the MLS group and removed from it. */
  added: array(id, 100_000),
  removed: array(id, 100_000),
  /** With `missing`: the number of entries; with `expired` and `withheld`, of messages; with `timer`, its seconds; with `pinned`, 1 or 0. */
  count: withDefault(integer(0), 0),
  /** With `expired` and `withheld`: the last position. */
  upTo: withDefault(integer(0), 0),
  /** With `pinned`: the content id of the message that was; null where one is pinned no more. */
  pinnedId: withDefault(nullable(contentId), null),
});
export type EventRecord = Guarded<typeof EventRecord>;
