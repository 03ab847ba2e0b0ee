import * as z from 'zod/mini';
import { Id, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

const IdParams = z.object({ id: Id });

/**
 * An event that concerns a person: a contact's direct message, a contact request, or an accepted one. There
 * is one of a kind for each sender: when it happens again, it moves to the top and is unread again.
 */
export const Notification = z
  .object({
    id: Id,
    type: z.enum(['message', 'contact_request', 'contact_accepted']),
    sender_id: Id,
    /** The sender's display name and nothing else: the relay knows no message, and says no sentence. */
    content: z.string(),
    created_at: Timestamp,
    read: z.boolean(),
  })
  .register(z.globalRegistry, { id: 'Notification' });
export type Notification = z.infer<typeof Notification>;

export const listNotifications = defineRoute({
  method: 'GET',
  paths: ['/notifications'],
  access: 'session',
  conditional: true,
  status: 200,
  response: z.array(Notification),
  errors: [],
});

export const readNotification = defineRoute({
  method: 'POST',
  paths: ['/notifications/read/{id}'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

export const readAllNotifications = defineRoute({
  method: 'POST',
  paths: ['/notifications/read-all'],
  access: 'session',
  status: 204,
  errors: [],
});

export const deleteNotification = defineRoute({
  method: 'DELETE',
  paths: ['/notifications/{id}'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});
