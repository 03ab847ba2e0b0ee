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

export const putHistory = defineRoute({
  method: 'PUT',
  paths: ['/history'],
  summary: 'Store sealed copies; an id that is stored already is left as it is',
  access: 'device',
  body: z.object({
    items: z.array(HistoryItem).check(z.minLength(1), z.maxLength(limits.historyItemsPerRequest)),
  }),
  status: 200,
  response: z.object({
    /** The number of items that were new. */
    stored: z.int(),
    /** The position of the newest copy there is, which another device may have stored. */
    lastPosition: Seq,
  }),
  errors: ['limit-reached'],
  bodyLimit: 4 * 1024 * 1024,
});

export const getHistory = defineRoute({
  method: 'GET',
  paths: ['/history'],
  summary: 'Sealed copies in the order of storing, `after` a position; only an empty page is the end',
  access: 'session',
  query: z.object({
    after: z._default(QueryInt.check(z.minimum(0)), 0),
    limit: z._default(QueryInt.check(z.minimum(1), z.maximum(limits.historyPerPage)), limits.historyPerPage),
  }),
  status: 200,
  response: z.array(StoredHistoryItem),
  errors: [],
});

export const deleteHistory = defineRoute({
  method: 'DELETE',
  paths: ['/history'],
  summary: 'Delete every sealed copy, or those of one conversation',
  access: 'session',
  query: z.object({ conversationId: z.optional(ConversationId) }),
  status: 204,
  errors: [],
});
