import type { Handlers } from '../http/contractRoutes.ts';
import { takeAddedTurns } from '../rateLimits/addedTurns.ts';
import type { Services } from '../services.ts';
import { time } from './encoding.ts';

export function groupInvitationHandlers({ groupInvitations, rateLimiter }: Services) {
  return {
    putAskedFirst: ({ session, body }) => groupInvitations.setAskedFirst(session.userId, body.asked_first),

    listGroupInvitations: async ({ session }) =>
      (await groupInvitations.list(session.userId)).map((invitation) => ({
        group_id: invitation.groupId,
        creator: invitation.creator,
        user: invitation.user,
        member_count: invitation.memberCount,
        accepted: invitation.accepted,
        created_at: time(invitation.createdAt),
      })),

    inviteGroupMembers: async ({ session: { userId }, params, body }) => {
      const people = await groupInvitations.toAsk(userId, params.id, body.user_ids);
      const taken = await takeAddedTurns(rateLimiter, userId, people);
      const asked = await rateLimiter.orGiveBack(taken, () =>
        groupInvitations.invite(userId, params.id, body.user_ids),
      );
      return { asked };
    },

    withdrawGroupInvitation: ({ session, params, body }) =>
      groupInvitations.withdraw(session.userId, { groupId: params.id, userId: body.user_id }),
    acceptGroupInvitation: ({ session, params }) =>
      groupInvitations.accept({ groupId: params.id, userId: session.userId }),
    declineGroupInvitation: ({ session, params }) =>
      groupInvitations.decline({ groupId: params.id, userId: session.userId }),
  } satisfies Partial<Handlers>;
}
