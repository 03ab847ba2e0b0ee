import type { GroupMember, GroupSummary } from '../../contract/index.ts';
import { ApiError } from '../errors.ts';
import type { Handlers } from '../http/contractRoutes.ts';
import { takeAddedTurns } from '../rateLimits/addedTurns.ts';
import type { GroupRow, Member } from '../repositories/groups.ts';
import type { Services } from '../services.ts';
import { bytes, text, time } from './encoding.ts';

export function groupHandlers({ groups, rateLimiter }: Services) {
  return {
    listGroups: async ({ session }) => (await groups.list(session.userId)).map(summaryOf),

    createGroup: async ({ session, body }) => {
      await groups.create(session.userId, { id: body.groupId, sealedName: bytes(body.sealedName) });
      return { id: body.groupId };
    },

    getGroup: async ({ session, params }) => {
      const group = await groups.get(session.userId, params.id);
      const departed = group.leaveStatements.map(({ userId, statement }) => ({
        user_id: userId,
        statement: text(statement),
      }));
      const { lastSeq, members } = group;
      return { ...summaryOf(group), members: members.map(memberOf), departed, last_seq: lastSeq };
    },

    sealGroupName: ({ session, params, body }) =>
      groups.sealName(session.userId, params.id, { epoch: body.epoch, sealedName: bytes(body.sealedName) }),

    listGroupMembers: async ({ session, params }) =>
      (await groups.get(session.userId, params.id)).members.map(memberOf),

    addGroupMember: async ({ session, params, body }) => {
      const { user_id: userId, user_ids: userIds = [], ...commit } = body;
      if (userId === undefined && userIds.length === 0) {
        throw new ApiError('invalid-request', 'user_id: nobody to add.');
      }
      await rateLimiter.take(['commit.account-conversation', `${session.userId} group:${params.id}`]);
      const people = userId === undefined ? userIds : [userId, ...userIds];
      const taken = await takeAddedTurns(
        rateLimiter,
        session.userId,
        await groups.notYetIn(params.id, people),
      );
      return rateLimiter.orGiveBack(taken, () => groups.add(session, params.id, { userId, userIds }, commit));
    },

    leaveGroup: ({ session, params, body }) => {
      const statement = body.statement === undefined ? null : bytes(body.statement);
      return groups.leave(session, params.id, { ...endingOf(body), statement });
    },
    getLeaveStatement: async ({ session, params }) => {
      const statement = await groups.leaveStatement(session.userId, params.id);
      return { statement: statement === null ? null : text(statement) };
    },
    deleteGroup: ({ session, params, body }) => groups.delete(session, params.id, endingOf(body)),
  } satisfies Partial<Handlers>;
}

const endingOf = ({ nonce, signature }: { readonly nonce: string; readonly signature: string }) => ({
  nonce: bytes(nonce),
  signature: bytes(signature),
});

function summaryOf(group: GroupRow): GroupSummary {
  return {
    id: group.id,
    name: text(group.sealedName),
    name_epoch: group.nameEpoch,
    creator_id: group.creatorId,
    member_count: group.memberCount,
    created_at: time(group.createdAt),
  };
}

function memberOf({ id, username }: Member): GroupMember {
  return { id, user: { id, username } };
}
