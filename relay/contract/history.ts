import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { base64Url, ConversationId, Id, QueryInt, Seq } from './primitives.ts';
import { defineRoute } from './route.ts';

/** A copy of one message for one's own other devices, sealed under a key that only they have. */
export const HistoryItem = z
  .object({
    /** The id of the message. */
    id: Id,
    conversationId: ConversationId,
    /** Its position in the conversation's log, if it has one. */
    seq: z.optional(Seq),
    sealed: base64Url(limits.historyItemMax),
  })
  .register(z.globalRegistry, { id: 'HistoryItem' });
export type HistoryItem = z.infer<typeof HistoryItem>;

/** `position` counts up in the order of storing, over all of a person's conversations. */
export const StoredHistoryItem = z
  .extend(HistoryItem, { position: Seq })
  .register(z.globalRegistry, { id: 'StoredHistoryItem' });
export type StoredHistoryItem = z.infer<typeof StoredHistoryItem>;

const historyParts = ['sealed'] as const;

export const putHistory = defineRoute({
  method: 'PUT',
  paths: ['/history'],
  access: 'device',
  body: z.object({
    items: z.array(HistoryItem).check(z.minLength(1), z.maxLength(limits.historyItemsPerRequest)),
    /** The person has switched the message backup on again: from then on deleting the copies takes a proof. */
    on: z.optional(z.literal(true)),
    /**
     * The items take the place of copies that are there: of messages that were deleted since. The device's signature over
     * them, since a stolen token deletes nothing.
     */
    replaces: z.optional(base64Url(64, 64)),
  }),
  bodyParts: historyParts,
  status: 200,
  response: z.object({
    /** The number of items that were new, or took the place of others. */
    stored: z.int(),
    /** The position of the newest copy there is, which another device may have stored. */
    lastPosition: Seq,
  }),
  errors: ['forbidden', 'quota'],
  bodyLimit: 4 * 1024 * 1024,
});

export const getHistory = defineRoute({
  method: 'GET',
  paths: ['/history'],
  access: 'session',
  query: z.object({
    after: z._default(QueryInt.check(z.minimum(0)), 0),
    limit: z._default(QueryInt.check(z.minimum(1), z.maximum(limits.historyPerPage)), limits.historyPerPage),
  }),
  status: 200,
  response: z.array(StoredHistoryItem),
  responseParts: historyParts,
  errors: [],
});

export const deleteHistory = defineRoute({
  method: 'DELETE',
  paths: ['/history'],
  access: 'session',
  query: z.object({ conversationId: z.optional(ConversationId) }),
  proof: {
    unless:
      'the message backup is off already, or the copies are of a conversation that one is not in any more',
  },
  status: 204,
  errors: [],
});
