import { groupConversationId } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, quotaReached } from '../errors.ts';
import { requireContact } from '../messaging/permissions.ts';
import { personQuotas } from '../personQuotas.ts';
import type { Hub } from '../realtime/hub.ts';
import { contactIds } from '../repositories/contacts.ts';
import * as rows from '../repositories/groupInvitations.ts';
import { lockUsers } from '../repositories/users.ts';
import { membersOf, requireCreator } from './groups.ts';

/** Milliseconds for which an invitation to a group waits. */
export const groupInvitationLifetime = 30 * 24 * 60 * 60 * 1000;

/**
 * Questions to people who want to be asked before somebody puts them into a group: until they have accepted, they are in no
 * group, and no commit adds them.
 */
export interface GroupInvitations {
  setAskedFirst(userId: string, askedFirst: boolean): Promise<void>;
  /** The invitations that ask this person, and those to this person's own groups, oldest first. */
  list(userId: string): Promise<rows.InvitationRow[]>;
  /**
   * Returns the ids of those among these people who have to be asked, and are not being asked yet.
   * @throws ApiError not-found, forbidden (not the creator), not-a-contact
   */
  toAsk(creatorId: string, groupId: string, userIds: readonly string[]): Promise<string[]>;
  /**
   * Asks those among contacts who want to be asked first; members and those who have accepted are passed over.
   * @returns who has been asked, now or before, and has not accepted
   * @throws ApiError not-found, forbidden (not the creator), not-a-contact, quota
   */
  invite(creatorId: string, groupId: string, userIds: readonly string[]): Promise<string[]>;
  /** @throws ApiError not-found, forbidden (not the creator) */
  withdraw(creatorId: string, key: rows.InvitationKey): Promise<void>;
  /** Repeating it changes nothing. @throws ApiError not-found unless this person is asked */
  accept(key: rows.InvitationKey): Promise<void>;
  /** @throws ApiError not-found unless this person is asked */
  decline(key: rows.InvitationKey): Promise<void>;
}

export interface GroupInvitationDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
}

export function createGroupInvitations({ db, hub, clock }: GroupInvitationDependencies): GroupInvitations {
  const changed = (userIds: readonly string[]) => {
    hub.publishToUsers(userIds, { type: 'group-invitations' });
  };

  return {
    setAskedFirst: (userId, askedFirst) => rows.setAskedFirst(db, userId, askedFirst),
    list: (userId) => rows.invitationsOf(db, userId),

    async toAsk(creatorId, groupId, userIds) {
      await requireCreator(db, groupId, creatorId);
      const others = await othersAmong(db, { creatorId, groupId, userIds });
      const known = new Set(await rows.askedIds(db, groupId));
      return (await rows.unasked(db, groupId, others)).filter((userId) => !known.has(userId));
    },

    async invite(creatorId, groupId, userIds) {
      const { asked, isNew } = await db.transaction().execute(async (tx) => {
        await requireCreator(tx, groupId, creatorId);
        // The counts below must hold, and nobody be added meanwhile.
        await lockUsers(tx, userIds);
        const others = await othersAmong(tx, { creatorId, groupId, userIds });
        const waiting = await rows.unasked(tx, groupId, others);
        for (const userId of waiting) await requireContact(tx, creatorId, userId);
        const known = await rows.askedIds(tx, groupId);
        const added = waiting.filter((userId) => !known.includes(userId));
        await requireRoom(tx, added);
        await rows.insertInvitations(tx, groupId, added, clock());
        return { asked: waiting, isNew: added.length > 0 };
      });
      if (isNew) changed([creatorId, ...asked]);
      return asked;
    },

    async withdraw(creatorId, { groupId, userId }) {
      await requireCreator(db, groupId, creatorId);
      if (!(await rows.deleteInvitations(db, groupId, [userId]))) throw noSuchInvitation();
      changed([creatorId, userId]);
    },

    async accept(key) {
      const creatorId = await requireInvitation(db, key);
      await rows.markAccepted(db, key, clock());
      changed([creatorId, key.userId]);
    },

    async decline(key) {
      const creatorId = await requireInvitation(db, key);
      await rows.deleteInvitations(db, key.groupId, [key.userId]);
      changed([creatorId, key.userId]);
    },
  };
}

/**
 * Returns the ids of those among these people who are not in the group. All of them have to be contacts, also those who need
 * not be asked: who wants to be is nothing that a stranger can learn.
 * @throws ApiError not-found, not-a-contact
 */
async function othersAmong(
  db: Db,
  { creatorId, groupId, userIds }: { creatorId: string; groupId: string; userIds: readonly string[] },
): Promise<string[]> {
  const { memberIds } = await membersOf(db, groupConversationId(groupId));
  const members = new Set(memberIds);
  const others = [...new Set(userIds)].filter((userId) => !members.has(userId));
  const contacts = new Set(await contactIds(db, creatorId));
  const stranger = others.find((userId) => !contacts.has(userId));
  if (stranger !== undefined) await requireContact(db, creatorId, stranger);
  return others;
}

/** @returns the id of the creator who asks @throws ApiError not-found */
async function requireInvitation(db: Db, key: rows.InvitationKey): Promise<string> {
  const creatorId = await rows.invitingCreator(db, key);
  if (creatorId === null) throw noSuchInvitation();
  return creatorId;
}

/** @throws ApiError quota, where as many invitations wait for one of these people as may */
async function requireRoom(tx: Db, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return;
  const counts = await rows.invitationCounts(tx, userIds);
  if ([...counts.values()].some((count) => count >= personQuotas.groupInvitationsPerUser)) {
    throw quotaReached(
      'groups',
      'Somebody of them has too many pending invitations to groups. Try again when they have answered some.',
    );
  }
}

const noSuchInvitation = () => new ApiError('not-found', 'There is no such invitation.');
