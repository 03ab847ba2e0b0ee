import { groupConversationId, limits, type SentMessage } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { requireSignedCommit, requireSignedEnding, type SignedEnding } from '../devices/deviceSignatures.ts';
import { ApiError, quotaReached } from '../errors.ts';
import { hearersOf, publishCommit, storeCommit } from '../messaging/commit.ts';
import type { NewCommit } from '../messaging/newEntries.ts';
import { requireContact } from '../messaging/permissions.ts';
import { receipt, staleEpoch } from '../messaging/send.ts';
import type { Hub } from '../realtime/hub.ts';
import * as conversations from '../repositories/conversations.ts';
import { deleteInvitations, unasked } from '../repositories/groupInvitations.ts';
import * as rows from '../repositories/groups.ts';
import * as leaveStatements from '../repositories/leaveStatements.ts';
import { groupCounts } from '../repositories/quotas.ts';
import { lockUsers } from '../repositories/users.ts';
import { deleteWelcomesTo } from '../repositories/welcomes.ts';

/** The people to add to a group. */
export interface NewMembers {
  /** A person to add who must not be a member yet. */
  readonly userId?: string | undefined;
  /** People to add; members among them are passed over. */
  readonly userIds: readonly string[];
}

export interface GroupWithMembers extends rows.GroupRow {
  readonly members: readonly rows.Member[];
  readonly leaveStatements: readonly leaveStatements.LeaveStatementRow[];
}

/**
 * Groups as far as the relay knows them: who is a member, who created it, and a name it can't read. A group that one is
 * no member of does not exist for one.
 */
export interface Groups {
  isMember(groupId: string, userId: string): Promise<boolean>;
  /** A person's groups, oldest first. */
  list(userId: string): Promise<rows.GroupRow[]>;
  /** @throws ApiError not-found unless this person is a member */
  get(userId: string, groupId: string): Promise<GroupWithMembers>;
  /**
   * Creates a group with one member. Repeating it does nothing.
   * @param sealedName under a key of epoch 0
   * @throws ApiError group-exists (the id is taken), limit-reached
   */
  create(userId: string, group: { id: string; sealedName: Buffer }): Promise<void>;
  /**
   * Stores the name under a key of the current epoch, unless one of that epoch is there.
   * @throws ApiError not-found, stale-epoch (with the current epoch)
   */
  sealName(userId: string, groupId: string, name: { epoch: number; sealedName: Buffer }): Promise<void>;
  /** Returns those of these people who are no members. */
  notYetIn(groupId: string, userIds: readonly string[]): Promise<string[]>;
  /**
   * Makes contacts of the creator members, in one transaction with the commit that adds their devices.
   * @throws ApiError not-found, forbidden (not the creator), not-a-contact, asked-first, already-member, limit-reached,
   *   stale-epoch   *   (with the current epoch), invalid-request
   */
  add(
    creator: DeviceSession,
    groupId: string,
    people: NewMembers,
    commit: NewCommit,
  ): Promise<{ sent: SentMessage; members: rows.Member[] }>;
  /**
   * @param statement the person's signed word of it, for the members to verify
   * @throws ApiError not-found, forbidden (the creator, who deletes the group instead; not signed by the device)
   */
  leave(
    session: DeviceSession,
    groupId: string,
    ending: SignedEnding & { statement: Buffer | null },
  ): Promise<void>;
  /**
   * The statement that this person last left the group with; null for a member, and for who left without one.
   */
  leaveStatement(userId: string, groupId: string): Promise<Buffer | null>;
  /**
   * Deletes a group with its whole log.
   * @throws ApiError not-found, forbidden (not the creator, or not signed by the device)
   */
  delete(session: DeviceSession, groupId: string, ending: SignedEnding): Promise<void>;
}

export interface GroupDependencies {
  readonly db: Db;
  readonly hub: Hub;
  readonly clock: () => number;
}

export function createGroups({ db, hub, clock }: GroupDependencies): Groups {
  const listsChanged = (userIds: readonly string[]) => hub.publishToUsers(userIds, { type: 'groups' });
  const removed = (groupId: string, userIds: readonly string[]) => {
    hub.signal({ type: 'members-removed', groupId, userIds });
  };

  return {
    isMember: (groupId, userId) => conversations.takesPart(db, groupConversationId(groupId), userId),
    list: (userId) => rows.groupsOf(db, userId),

    async get(userId, groupId) {
      const group = await rows.findGroup(db, groupId, userId);
      if (group === null) throw noSuchGroup();
      const [members, statements] = await Promise.all([
        rows.membersOf(db, group.conversationId),
        leaveStatements.leaveStatementsOf(db, group.conversationId),
      ]);
      return { ...group, members, leaveStatements: statements };
    },

    async create(userId, { id, sealedName }) {
      await db.transaction().execute(async (tx) => {
        // The count below must hold until the group is there.
        await lockUsers(tx, [userId]);
        if ((await rows.groupCreator(tx, id)) === userId) return;
        if ((await rows.groupsOf(tx, userId)).length >= limits.groupsPerUser) {
          throw new ApiError('limit-reached', `You can be in at most ${limits.groupsPerUser} groups.`);
        }
        const group = { id, conversationId: groupConversationId(id), creatorId: userId, sealedName };
        if (!(await rows.insertGroup(tx, group, clock()))) {
          throw new ApiError('group-exists', 'This group id is already in use.');
        }
      });
      // Nobody is told: until its first commit, a group is there for no browser but the one that is starting it.
    },

    async sealName(userId, groupId, name) {
      const memberIds = await db.transaction().execute(async (tx) => {
        const group = await rows.findGroup(tx, groupId, userId);
        if (group === null) throw noSuchGroup();
        const { conversationId } = group;
        // No commit, and no other member's name, may come in between.
        await conversations.lockConversation(tx, conversationId);
        if ((await conversations.findEpoch(tx, conversationId)) !== name.epoch) {
          throw await staleEpoch(tx, conversationId);
        }
        if (!(await rows.renameGroup(tx, groupId, name))) return [];
        return conversations.participantIds(tx, conversationId);
      });
      listsChanged(memberIds);
    },

    async notYetIn(groupId, userIds) {
      const { memberIds } = await membersOf(db, groupConversationId(groupId));
      const members = new Set(memberIds);
      return userIds.filter((userId) => !members.has(userId));
    },

    async add(creator, groupId, { userId: newId, userIds }, commit) {
      await requireSignedCommit(db, creator, groupConversationId(groupId), commit);
      const { stored, wereAsked, members } = await db.transaction().execute(async (tx) => {
        const group = await requireCreator(tx, groupId, creator.userId);
        const { conversationId } = group;
        const { heldIds, memberIds } = await membersOf(tx, conversationId);
        if (newId !== undefined && memberIds.includes(newId)) {
          throw new ApiError('already-member', 'This person is already a member of the group.');
        }
        const wanted = new Set(newId === undefined ? userIds : [newId, ...userIds]);
        const addedIds = [...wanted].filter((userId) => !memberIds.includes(userId));
        for (const userId of addedIds) {
          if (await requireContact(tx, creator.userId, userId)) heldIds.push(userId);
        }
        if (memberIds.length + addedIds.length > limits.membersPerGroup) {
          throw new ApiError('limit-reached', `A group can have at most ${limits.membersPerGroup} members.`);
        }
        await requirePlaces(tx, addedIds, creator.userId);
        await requireAsked(tx, groupId, addedIds);
        const audience = { conversationId, groupId, userIds: [...memberIds, ...addedIds], heldIds };
        const stored = await storeCommit(tx, creator, audience, commit, clock());
        for (const userId of addedIds) {
          const held = heldIds.includes(userId);
          await conversations.insertParticipant(tx, { conversationId, userId, seq: stored.entry.seq, held });
        }
        await leaveStatements.deleteLeaveStatements(tx, conversationId, addedIds);
        const wereAsked = await deleteInvitations(tx, groupId, addedIds);
        return { stored, wereAsked, members: await rows.membersOf(tx, conversationId) };
      });
      // The list first: a Welcome to a group that isn't in it yet would puzzle the client.
      listsChanged(hearersOf(stored.audience));
      publishCommit(hub, stored);
      if (wereAsked) hub.publishToUsers(hearersOf(stored.audience), { type: 'group-invitations' });
      return { sent: receipt(stored.entry), members };
    },

    async leave(session, groupId, { nonce, signature, statement }) {
      const { userId } = session;
      const ending = { conversationId: groupConversationId(groupId), nonce, signature, now: clock() };
      if (!(await conversations.takesPart(db, ending.conversationId, userId))) throw noSuchGroup();
      await requireSignedEnding(db, session, 'leave', ending);
      const memberIds = await db.transaction().execute(async (tx) => {
        const group = await rows.findGroup(tx, groupId, userId);
        if (group === null) throw noSuchGroup();
        if (group.creatorId === userId) {
          throw new ApiError('forbidden', "The creator can't leave the group, only delete it.");
        }
        const { conversationId } = group;
        const left = await leaveConversation(tx, conversationId, userId);
        if (statement !== null && left.length > 0) {
          await leaveStatements.insertLeaveStatement(tx, { conversationId, userId, statement });
        }
        return left;
      });
      removed(groupId, [userId]);
      listsChanged([userId, ...memberIds]);
    },

    leaveStatement: (userId, groupId) =>
      leaveStatements.leaveStatementOf(db, groupConversationId(groupId), userId),

    async delete(session, groupId, { nonce, signature }) {
      const { userId } = session;
      const ending = { conversationId: groupConversationId(groupId), nonce, signature, now: clock() };
      if (!(await conversations.takesPart(db, ending.conversationId, userId))) throw noSuchGroup();
      await requireSignedEnding(db, session, 'delete', ending);
      const memberIds = await db.transaction().execute(async (tx) => {
        const { conversationId } = await requireCreator(tx, groupId, userId);
        const ids = await conversations.participantIds(tx, conversationId);
        await conversations.deleteConversation(tx, conversationId);
        return ids;
      });
      removed(groupId, memberIds);
      listsChanged(memberIds);
    },
  };
}

/**
 * Takes a person out of a conversation, with the Welcomes to it that wait for them. A conversation that nobody is left
 * in is deleted.
 * @returns who is left
 */
export async function leaveConversation(tx: Db, conversationId: string, userId: string): Promise<string[]> {
  // The last two who leave at once must not each see the other.
  await conversations.lockConversation(tx, conversationId);
  await conversations.removeParticipant(tx, conversationId, userId);
  await deleteWelcomesTo(tx, userId, conversationId);
  const left = await conversations.participantIds(tx, conversationId);
  if (left.length === 0) await conversations.deleteConversation(tx, conversationId);
  return left;
}

/** Ids of all members, and of those among them from whom the group is held back. */
export async function membersOf(
  db: Db,
  conversationId: string,
): Promise<{ memberIds: string[]; heldIds: string[] }> {
  const heldIds = await conversations.heldParticipantIds(db, conversationId);
  return { memberIds: [...(await conversations.participantIds(db, conversationId)), ...heldIds], heldIds };
}

/** @throws ApiError not-found (no member), forbidden (a member who is not the creator) */
export async function requireCreator(tx: Db, groupId: string, userId: string): Promise<rows.GroupRow> {
  const group = await rows.findGroup(tx, groupId, userId);
  if (group === null) throw noSuchGroup();
  if (group.creatorId !== userId) {
    throw new ApiError('forbidden', 'Only the creator of the group can do this.');
  }
  return group;
}

/** @throws ApiError asked-first, where one of these people wants to be asked and has not accepted */
async function requireAsked(tx: Db, groupId: string, userIds: readonly string[]): Promise<void> {
  if ((await unasked(tx, groupId, userIds)).length === 0) return;
  throw new ApiError('asked-first', 'Somebody of them wants to be asked before they are in a group.');
}

/** @throws ApiError quota, where one of these people is in as many groups as may be */
async function requirePlaces(tx: Db, userIds: readonly string[], creatorId: string): Promise<void> {
  if (userIds.length === 0) return;
  // The counts must hold until they are members.
  await lockUsers(tx, userIds);
  const counts = await groupCounts(tx, userIds, creatorId);
  if ([...counts.values()].some((count) => count >= limits.groupsPerUser)) {
    throw quotaReached(
      'groups',
      `Somebody of them is in ${limits.groupsPerUser} groups already. There is room again when they leave one.`,
    );
  }
}

const noSuchGroup = () => new ApiError('not-found', 'There is no such group.');
