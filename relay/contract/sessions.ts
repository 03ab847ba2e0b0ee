import * as z from 'zod/mini';
import { Id, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

/** A session that has neither ended nor expired. */
export const OpenSession = z
  .object({
    id: Id,
    /** Null until its browser has registered as a device, without which it ends within minutes. */
    device_id: z.nullable(Id),
    created_at: Timestamp,
    /** When its device was last seen; of one without a device, when it was opened. */
    last_seen_at: Timestamp,
    expires_at: Timestamp,
    /** True for the calling session. */
    current: z.boolean(),
  })
  .register(z.globalRegistry, { id: 'OpenSession' });
export type OpenSession = z.infer<typeof OpenSession>;

export const listSessions = defineRoute({
  method: 'GET',
  paths: ['/sessions'],
  access: 'session',
  status: 200,
  response: z.array(OpenSession),
  errors: [],
});

export const endSession = defineRoute({
  method: 'DELETE',
  paths: ['/sessions/{id}'],
  access: 'session',
  params: z.object({ id: Id }),
  proof: { unless: 'the session is the calling one, or was opened before it' },
  status: 204,
  errors: ['not-found'],
});
