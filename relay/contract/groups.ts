import * as z from 'zod/mini';
import {
  CommitFields,
  commitParts,
  LogEntry,
  logParts,
  MessageFields,
  MessagePage,
  SentMessage,
  submitCommit,
} from './conversations.ts';
import { limits } from './limits.ts';
import { base64Url, Epoch, Id, intFrom, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

const IdParams = z.object({ id: Id });

/** A group's name, sealed by its members under a key of one of their epochs. The relay can't read it. */
const SealedName = base64Url(limits.sealedNameMax);

export const GroupMember = z
  .object({ id: Id, user: z.object({ id: Id, username: z.string() }) })
  .register(z.globalRegistry, { id: 'GroupMember' });
export type GroupMember = z.infer<typeof GroupMember>;

export const GroupSummary = z
  .object({
    id: Id,
    /** The sealed name as it was stored last, and the epoch that its key comes from. */
    name: SealedName,
    name_epoch: Epoch,
    /** Null once the creator has deleted their account: then nobody can add people or delete the group. */
    creator_id: z.nullable(Id),
    member_count: intFrom(1),
    created_at: Timestamp,
  })
  .register(z.globalRegistry, { id: 'GroupSummary' });
export type GroupSummary = z.infer<typeof GroupSummary>;

/** A device's signed word that its person leaves a group. The relay can't verify it; the members can. */
const LeaveStatement = base64Url(limits.leaveStatementMax);

export const GroupDetails = z
  .extend(GroupSummary, {
    /** Sorted by username. */
    members: z.array(GroupMember),
    /** People who left with a statement, as long as no commit has removed their leaves. */
    departed: z.array(z.object({ user_id: Id, statement: LeaveStatement })),
    /** The log's last position, 0 before the first commit: whose keys are there have nothing to fetch before comparing. */
    last_seq: intFrom(0),
  })
  .register(z.globalRegistry, { id: 'GroupDetails' });
export type GroupDetails = z.infer<typeof GroupDetails>;

export const listGroups = defineRoute({
  method: 'GET',
  paths: ['/groups'],
  access: 'session',
  status: 200,
  response: z.array(GroupSummary),
  errors: [],
});

export const createGroup = defineRoute({
  method: 'POST',
  paths: ['/group'],
  access: 'device',
  body: z.object({
    /** Chosen by the client, which binds it into the group's keys. Repeating it answers the group that exists. */
    groupId: Id,
    /** Sealed under a key of epoch 0. */
    sealedName: SealedName,
  }),
  status: 201,
  response: z.object({ id: Id }),
  errors: ['group-exists', 'limit-reached'],
});

export const getGroup = defineRoute({
  method: 'GET',
  paths: ['/group/{id}'],
  access: 'session',
  params: IdParams,
  status: 200,
  response: GroupDetails,
  errors: ['not-found'],
});

export const sealGroupName = defineRoute({
  method: 'PUT',
  paths: ['/group/{id}/name'],
  access: 'device',
  params: IdParams,
  body: z.object({ epoch: Epoch, sealedName: SealedName }),
  status: 204,
  errors: ['not-found', 'stale-epoch'],
});

export const listGroupMembers = defineRoute({
  method: 'GET',
  paths: ['/group/{id}/members'],
  access: 'session',
  params: IdParams,
  status: 200,
  response: z.array(GroupMember),
  errors: ['not-found'],
});

export const addGroupMember = defineRoute({
  method: 'POST',
  paths: ['/group/{id}/add'],
  access: 'device',
  params: IdParams,
  /**
   * At least one person in all. Members among `user_ids` are passed over: a commit may have to add devices of theirs
   * that the group's tree lost.
   */
  body: z.extend(CommitFields, {
    user_id: z.optional(Id),
    user_ids: z.optional(z.array(Id).check(z.minLength(1), z.maxLength(limits.membersPerAdd))),
  }),
  bodyParts: commitParts,
  status: 201,
  response: z.extend(SentMessage, { members: z.array(GroupMember) }),
  errors: [
    'quota',
    'not-found',
    'forbidden',
    'not-a-contact',
    'asked-first',
    'already-member',
    'limit-reached',
    'stale-epoch',
    'missing-tree',
    'another-start',
  ],
  bodyLimit: submitCommit.bodyLimit,
});

/** A device's word that its person deletes or leaves a group: a session alone ends none. */
const Ending = z.object({
  /** From this session's `POST /proof-nonce`; good once, so that who is added again isn't made to leave by the same word. */
  nonce: base64Url(32, 32),
  /**
   * Over {uint8 version = 2, opaque ending<V>, opaque conversationId<V>, opaque userId<V>, opaque deviceId<V>, opaque nonce<V>}
   * by SignWithLabel of RFC 9420 (section 5.1.2) with `SinettiGroupEnding`, where the ending is `delete` or `leave`.
   */
  signature: base64Url(64, 64),
});

export const leaveGroup = defineRoute({
  method: 'DELETE',
  paths: ['/group/{id}/leave'],
  access: 'device',
  params: IdParams,
  body: z.extend(Ending, { statement: z.optional(LeaveStatement) }),
  status: 204,
  errors: ['not-found', 'forbidden'],
});

export const getLeaveStatement = defineRoute({
  method: 'GET',
  paths: ['/group/{id}/departure'],
  access: 'session',
  params: IdParams,
  status: 200,
  response: z.object({ statement: z.nullable(LeaveStatement) }),
  errors: [],
});

export const deleteGroup = defineRoute({
  method: 'DELETE',
  paths: ['/group/{id}'],
  access: 'device',
  params: IdParams,
  body: Ending,
  status: 204,
  errors: ['not-found', 'forbidden'],
});

export const listGroupMessages = defineRoute({
  method: 'GET',
  paths: ['/messages/group/{id}'],
  access: 'session',
  params: IdParams,
  query: MessagePage,
  status: 200,
  response: z.array(LogEntry),
  responseParts: logParts,
  errors: ['not-found'],
});

export const sendGroupMessage = defineRoute({
  method: 'POST',
  paths: ['/messages/group/{id}'],
  access: 'device',
  params: IdParams,
  body: MessageFields,
  status: 201,
  response: SentMessage,
  errors: ['not-found', 'stale-epoch', 'message-id-taken', 'another-start', 'quota'],
  bodyLimit: 256 * 1024,
});
