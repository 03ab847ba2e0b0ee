import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { Id, intFrom, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

const IdParams = z.object({ id: Id });
const Person = z.object({ id: Id, username: z.string() });

/** Lets the person be asked before somebody puts them into a group, or no more. */
export const putAskedFirst = defineRoute({
  method: 'PUT',
  paths: ['/users/me/asked-first'],
  access: 'session',
  body: z.object({ asked_first: z.boolean() }),
  status: 204,
  errors: [],
});

/** A question whether somebody wants to be in a group. The group's name is sealed for its members, so it isn't told. */
export const GroupInvitation = z
  .object({
    group_id: Id,
    creator: Person,
    /** The person who is asked. */
    user: Person,
    member_count: intFrom(1),
    /** The person wants to, and the creator can add them. */
    accepted: z.boolean(),
    created_at: Timestamp,
  })
  .register(z.globalRegistry, { id: 'GroupInvitation' });
export type GroupInvitation = z.infer<typeof GroupInvitation>;

/** Answers the invitations that ask the caller, and those to the caller's own groups, oldest first. */
export const listGroupInvitations = defineRoute({
  method: 'GET',
  paths: ['/group-invitations'],
  access: 'session',
  status: 200,
  response: z.array(GroupInvitation),
  errors: [],
});

/** Asks those among contacts of the creator who want to be asked first, unless they have accepted already. */
export const inviteGroupMembers = defineRoute({
  method: 'POST',
  paths: ['/group/{id}/invitations'],
  access: 'device',
  params: IdParams,
  body: z.object({ user_ids: z.array(Id).check(z.minLength(1), z.maxLength(limits.membersPerGroup)) }),
  status: 200,
  /** Ids of the people who have been asked, now or before, and can't be added yet. */
  response: z.object({ asked: z.array(Id) }),
  errors: ['not-found', 'forbidden', 'not-a-contact', 'quota'],
});

export const withdrawGroupInvitation = defineRoute({
  method: 'DELETE',
  paths: ['/group/{id}/invitations'],
  access: 'device',
  params: IdParams,
  body: z.object({ user_id: Id }),
  status: 204,
  errors: ['not-found', 'forbidden'],
});

/** Called by the person who is asked: the creator can add them from now on. Repeating it changes nothing. */
export const acceptGroupInvitation = defineRoute({
  method: 'PUT',
  paths: ['/group-invitations/{id}'],
  access: 'device',
  /** The group's. */
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});

/** Called by the person who is asked. */
export const declineGroupInvitation = defineRoute({
  method: 'DELETE',
  paths: ['/group-invitations/{id}'],
  access: 'session',
  /** The group's. */
  params: IdParams,
  status: 204,
  errors: ['not-found'],
});
