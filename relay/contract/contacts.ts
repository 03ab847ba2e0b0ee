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
  summary: 'People one has accepted, or been accepted by',
  access: 'session',
  status: 200,
  response: z.array(Contact),
  errors: [],
});

export const listContactRequests = defineRoute({
  method: 'GET',
  paths: ['/contacts/requests', '/contact/requests'],
  summary: 'Pending requests to oneself',
  access: 'session',
  status: 200,
  response: z.array(ContactRequest),
  errors: [],
});

export const listSentRequests = defineRoute({
  method: 'GET',
  paths: ['/contacts/sent-requests'],
  summary: 'Pending requests that one has sent',
  access: 'session',
  status: 200,
  response: z.array(SentRequest),
  errors: [],
});

export const requestContact = defineRoute({
  method: 'POST',
  paths: ['/contacts/request/{id}', '/contact/request/{id}'],
  summary:
    'Ask a person, by user id, to become a contact. A request that crosses one the other way accepts it.',
  access: 'session',
  params: IdParams,
  status: 201,
  response: z.object({ id: Id, status: z.enum(['pending', 'accepted']), message: z.string() }),
  errors: ['not-found', 'already-contacts', 'request-exists'],
});

export const acceptContact = defineRoute({
  method: 'POST',
  paths: ['/contacts/accept/{id}', '/contact/accept/{id}'],
  summary: 'Accept a pending request, by request id',
  access: 'session',
  params: IdParams,
  status: 200,
  response: z.object({ contact: Contact }),
  errors: ['not-found'],
});

export const rejectContact = defineRoute({
  method: 'POST',
  paths: ['/contacts/reject/{id}', '/contact/deny/{id}'],
  summary: 'Decline a pending request, by request id',
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

export const removeContact = defineRoute({
  method: 'DELETE',
  paths: ['/contacts/{id}'],
  summary: 'Remove a contact, by user id',
  access: 'session',
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

export const searchUsers = defineRoute({
  method: 'GET',
  paths: ['/users/search', '/search'],
  summary: 'People whose username contains the text, or whose email is the text; never oneself',
  access: 'session',
  query: z.object({ q: lineOfText(limits.emailMaxLength).check(z.minLength(limits.searchMinLength)) }),
  status: 200,
  response: z.array(UserSummary),
  errors: [],
});
