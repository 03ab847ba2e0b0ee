import { groupOf } from '../../contract/index.ts';
import { tellEnded } from '../auth/sessions.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Db } from '../db/tables.ts';
import { leaveConversation } from '../groups/groups.ts';
import type { Hub } from '../realtime/hub.ts';
import { releaseGroupsOf } from '../repositories/blocks.ts';
import { conversationIdsOf } from '../repositories/conversations.ts';
import { emptyMessagesOf, insertDeletion } from '../repositories/deletions.ts';
import { fellowMemberIds } from '../repositories/groups.ts';
import { liveSessionsOf } from '../repositories/sessions.ts';
import { deleteUser, lockUsers } from '../repositories/users.ts';
import { acquaintancesOf, tellAcquaintances } from './acquaintances.ts';

export interface DeletionDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
  readonly blobs: Pick<Blobs, 'deleteSoon'> | null;
}

/**
 * Deletes an account with everything that is the person's: profile, vault, devices, sessions, KeyPackages, history,
 * contacts, requests, notifications, memberships. The messages they sent stay as empty entries, because a log without
 * gaps is what tells clients that the relay keeps nothing from them; the commits they sent stay as they are, because
 * devices that are away need them to follow the group. The purge job ends both.
 * @param dependencies.blobs null beside a relay, whose job deletes the person's files within the hour
 */
export async function deleteAccount(
  { db, hub, clock, blobs }: DeletionDependencies,
  userId: string,
): Promise<void> {
  const now = clock();
  const former = await db.transaction().execute(async (tx) => {
    await lockUsers(tx, [userId]);
    const known = {
      sessionIds: (await liveSessionsOf(tx, userId, now)).map(({ id }) => id),
      acquaintances: await acquaintancesOf(tx, userId),
      fellowMemberIds: await fellowMemberIds(tx, userId, 'hearing'),
      conversationIds: await conversationIdsOf(tx, userId),
    };
    await insertDeletion(tx, userId, now);
    for (const conversationId of known.conversationIds) await leaveConversation(tx, conversationId, userId);
    // Nobody could unblock a creator who is gone.
    const released = await releaseGroupsOf(tx, userId);
    await deleteUser(tx, userId);
    return { ...known, released };
  });
  tellEnded(hub, former.sessionIds, 'session-expired');
  for (const contactId of former.acquaintances.contactIds) {
    hub.signal({ type: 'contacts-changed', userIds: [userId, contactId] });
  }
  for (const conversationId of former.conversationIds) {
    const groupId = groupOf(conversationId);
    if (groupId !== null) hub.signal({ type: 'members-removed', groupId, userIds: [userId] });
  }
  tellAcquaintances(hub, former.acquaintances);
  hub.publishToUsers(former.fellowMemberIds, { type: 'groups' });
  for (const { conversationId, memberId } of former.released) {
    hub.publishToUsers([memberId], { type: 'groups' });
    hub.publishToUsers([memberId], { type: 'welcome', conversationId });
  }
  // Not in the transaction: it may be years of messages, and nobody else could write meanwhile. The record stands, so
  // that the purge job finishes this if the relay stops now.
  await emptyMessagesOf(db, userId);
  // They may be many, and nobody can read them any more.
  blobs?.deleteSoon();
}
