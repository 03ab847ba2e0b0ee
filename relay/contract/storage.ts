import * as z from 'zod/mini';
import { intFrom } from './primitives.ts';
import { defineRoute } from './route.ts';

/** For how long the relay keeps what it keeps of everybody. */
export const Storage = z
  .object({
    /** The days after which the content of an entry is deleted, even if some device has not acknowledged it. */
    entryDays: intFrom(1),
    /** The fewest of those days that held lately: an entry that is younger than these was not deleted for its age. */
    fewestEntryDays: intFrom(1),
    /** The days that sealed copies of messages are kept; null for as long as the account is there. */
    historyDays: z.nullable(intFrom(1)),
  })
  .register(z.globalRegistry, { id: 'Storage' });
export type Storage = z.infer<typeof Storage>;

export const getStorage = defineRoute({
  method: 'GET',
  paths: ['/storage'],
  access: 'session',
  status: 200,
  response: Storage,
  errors: [],
});
