import * as z from 'zod/mini';
import { UserSummary } from './account.ts';
import { limits } from './limits.ts';
import { Id, lineOfText, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

const IdParams = z.object({ id: Id });

export const Contact = z
  .object({ id: Id, username: z.string(), email: z.string() })
  .register(z.globalRegistry, { id: 'Contact' });
export type Contact = z.infer<typeof Contact>;

export const ContactRequest = z
  .object({ id: Id, from_user: UserSummary, created_at: Timestamp })
  .register(z.globalRegistry, { id: 'ContactRequest' });
export type ContactRequest = z.infer<typeof ContactRequest>;

export const SentRequest = z
  .object({ id: Id, to_user: z.object({ id: Id, username: z.string() }), created_at: Timestamp })
  .register(z.globalRegistry, { id: 'SentRequest' });
export type SentRequest = z.infer<typeof SentRequest>;

export const listContacts = defineRoute({
  method: 'GET',
  paths: ['/contacts'],
  access: 'session',
  conditional: true,
  status: 200,
  response: z.array(Contact),
  errors: [],
});

export const listContactRequests = defineRoute({
  method: 'GET',
  paths: ['/contacts/requests', '/contact/requests'],
  access: 'session',
  conditional: true,
  status: 200,
  response: z.array(ContactRequest),
  errors: [],
});

export const listSentRequests = defineRoute({
  method: 'GET',
  paths: ['/contacts/sent-requests'],
  access: 'session',
  conditional: true,
  status: 200,
  response: z.array(SentRequest),
  errors: [],
});

export const requestContact = defineRoute({
  method: 'POST',
  paths: ['/contacts/request/{id}', '/contact/request/{id}'],
  access: 'session',
  params: IdParams,
  status: 201,
  response: z.object({ id: Id, status: z.enum(['pending', 'accepted']), message: z.string() }),
  errors: ['not-found', 'already-contacts', 'request-exists', 'quota'],
});

/** Takes the pending request to a person back, by user id. It counts as one that was declined. */
export const withdrawContact = defineRoute({
  method: 'DELETE',
  paths: ['/contacts/request/{id}'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

export const acceptContact = defineRoute({
  method: 'POST',
  paths: ['/contacts/accept/{id}', '/contact/accept/{id}'],
  access: 'session',
  params: IdParams,
  status: 200,
  response: z.object({ contact: Contact }),
  errors: ['not-found'],
});

export const rejectContact = defineRoute({
  method: 'POST',
  paths: ['/contacts/reject/{id}', '/contact/deny/{id}'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

export const removeContact = defineRoute({
  method: 'DELETE',
  paths: ['/contacts/{id}'],
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

export const searchUsers = defineRoute({
  method: 'GET',
  paths: ['/users/search', '/search'],
  access: 'session',
  query: z.object({ q: lineOfText(limits.emailMaxLength).check(z.minLength(limits.searchMinLength)) }),
  status: 200,
  response: z.array(UserSummary),
  errors: [],
});
