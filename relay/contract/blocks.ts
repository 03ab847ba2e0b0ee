import * as z from 'zod/mini';
import { Id, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

const IdParams = z.object({ id: Id });

/** A person whom the caller has blocked, and since when. */
export const Block = z
  .object({ id: Id, username: z.string(), created_at: Timestamp })
  .register(z.globalRegistry, { id: 'Block' });
export type Block = z.infer<typeof Block>;

export const listBlocks = defineRoute({
  method: 'GET',
  paths: ['/blocks'],
  access: 'session',
  status: 200,
  response: z.array(Block),
  errors: [],
});

/** By user id. Repeating it changes nothing. */
export const block = defineRoute({
  method: 'PUT',
  paths: ['/blocks/{id}'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found', 'limit-reached'],
});

export const unblock = defineRoute({
  method: 'DELETE',
  paths: ['/blocks/{id}'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});
