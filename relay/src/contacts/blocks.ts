import { directConversationId, limits } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import type { Hub } from '../realtime/hub.ts';
import * as rows from '../repositories/blocks.ts';
import { findReach, lockConversation } from '../repositories/conversations.ts';
import { markOccurrenceRead } from '../repositories/notifications.ts';
import { findUser, lockUsers } from '../repositories/users.ts';

/**
 * People whom a person doesn't want to hear of. All that they do is answered as before, and is held back from the
 * person until they are unblocked: docs/decisions/blocking.md.
 */
export interface Blocks {
  /** The people whom a person has blocked, by name. */
  list(userId: string): Promise<rows.BlockRow[]>;
  /** Repeating it changes nothing. @throws ApiError invalid-request (oneself), not-found, limit-reached */
  block(userId: string, blockedId: string): Promise<void>;
  /** Shows what was held back. @throws ApiError not-found unless this person is blocked */
  unblock(userId: string, blockedId: string): Promise<void>;
}

export interface BlockDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
}

export function createBlocks({ db, hub, clock }: BlockDependencies): Blocks {
  const changed = (userId: string, blockedId: string) => {
    hub.signal({ type: 'contacts-changed', userIds: [userId, blockedId] });
    hub.publishToUsers([userId], { type: 'contacts', lists: ['contacts', 'requests'] });
    for (const type of ['blocks', 'group-invitations'] as const) hub.publishToUsers([userId], { type });
  };

  return {
    list: (userId) => rows.blocksOf(db, userId),

    async block(userId, blockedId) {
      if (userId === blockedId) throw new ApiError('invalid-request', "You can't block yourself.");
      const isNew = await db.transaction().execute(async (tx) => {
        // A request or an acceptance that crosses must see it, or be seen.
        await lockUsers(tx, [userId, blockedId]);
        if ((await findUser(tx, blockedId)) === null) {
          throw new ApiError('not-found', 'There is no such person.');
        }
        if (await rows.hasBlocked(tx, userId, blockedId)) return false;
        if ((await rows.blocksOf(tx, userId)).length >= limits.blocksPerUser) {
          throw new ApiError('limit-reached', `You can block at most ${limits.blocksPerUser} people.`);
        }
        const now = clock();
        const conversationId = directConversationId(userId, blockedId);
        await lockConversation(tx, conversationId);
        const seen = (await findReach(tx, conversationId)) ?? { epoch: 0, lastSeq: 0 };
        await rows.insertBlock(tx, { userId, blockedId, seen }, now);
        const request = { type: 'contact_request', userId, senderId: blockedId } as const;
        await markOccurrenceRead(tx, request, { until: now, now });
        return true;
      });
      if (isNew) changed(userId, blockedId);
    },

    async unblock(userId, blockedId) {
      const conversationId = directConversationId(userId, blockedId);
      const { reach, hasGroups } = await db.transaction().execute(async (tx) => {
        await lockUsers(tx, [userId, blockedId]);
        if (!(await rows.deleteBlock(tx, userId, blockedId))) {
          throw new ApiError('not-found', 'This person is not blocked.');
        }
        // A message that has its position, and was held back, is told.
        await lockConversation(tx, conversationId);
        return {
          reach: await findReach(tx, conversationId),
          hasGroups: await rows.releaseGroups(tx, userId, blockedId),
        };
      });
      changed(userId, blockedId);
      if (hasGroups) hub.publishToUsers([userId], { type: 'groups' });
      if (hasGroups || reach !== null) hub.publishToUsers([userId], { type: 'welcome', conversationId });
      if (reach !== null) {
        hub.publishToUsers([userId], { type: 'available', conversationId, seq: reach.lastSeq });
      }
    },
  };
}
