import { sql } from 'kysely';
import type { Db } from '../db/tables.ts';

export interface InvitationRow {
  readonly groupId: string;
  readonly creator: { readonly id: string; readonly username: string };
  readonly user: { readonly id: string; readonly username: string };
  readonly memberCount: number;
  readonly accepted: boolean;
  readonly createdAt: number;
}

/** Names an invitation by the person who is asked, and the group. */
export interface InvitationKey {
  readonly groupId: string;
  readonly userId: string;
}

export async function setAskedFirst(db: Db, userId: string, askedFirst: boolean): Promise<void> {
  await db
    .updateTable('users')
    .set({ asked_first: askedFirst ? 1 : 0 })
    .where('id', '=', userId)
    .execute();
}

/**
 * Invitations between contacts that ask a person, and those to groups that the person has created, oldest first. Those of
 * somebody whom the person has blocked are held back.
 */
export async function invitationsOf(db: Db, userId: string): Promise<InvitationRow[]> {
  const rows = await invitations(db)
    .where((where) => where.or([where('asked.id', '=', userId), where('creator.id', '=', userId)]))
    .where((where) => where.or([where('creator.id', '=', userId), where('blocks.user_id', 'is', null)]))
    .orderBy('group_invitations.created_at')
    .orderBy('group_invitations.group_id')
    .orderBy('asked.username_key')
    .execute();
  return rows.map((row) => ({
    groupId: row.group_id,
    creator: { id: row.creator_id, username: row.creator_name },
    user: { id: row.user_id, username: row.username },
    memberCount: row.member_count ?? 0,
    accepted: row.accepted_at !== null,
    createdAt: row.created_at,
  }));
}

/** The creator of the group that asks a person, if the person is to hear of it. */
export async function invitingCreator(db: Db, { groupId, userId }: InvitationKey): Promise<string | null> {
  const row = await invitations(db)
    .where('group_invitations.group_id', '=', groupId)
    .where('asked.id', '=', userId)
    .where('blocks.user_id', 'is', null)
    .executeTakeFirst();
  return row?.creator_id ?? null;
}

function invitations(db: Db) {
  return db
    .selectFrom('group_invitations')
    .innerJoin('groups', 'groups.id', 'group_invitations.group_id')
    .innerJoin('users as creator', 'creator.id', 'groups.creator_id')
    .innerJoin('users as asked', 'asked.id', 'group_invitations.user_id')
    .innerJoin('contacts', (join) =>
      join.onRef('contacts.user_id', '=', 'creator.id').onRef('contacts.contact_id', '=', 'asked.id'),
    )
    .leftJoin('blocks', (join) =>
      join.onRef('blocks.user_id', '=', 'asked.id').onRef('blocks.blocked_id', '=', 'creator.id'),
    )
    .select(['group_invitations.group_id', 'group_invitations.created_at', 'group_invitations.accepted_at'])
    .select(['creator.id as creator_id', 'creator.username as creator_name'])
    .select(['asked.id as user_id', 'asked.username'])
    .select((select) =>
      select
        .selectFrom('participants')
        .whereRef('participants.conversation_id', '=', 'groups.conversation_id')
        .select((count) => count.fn.countAll<number>().as('count'))
        .as('member_count'),
    );
}

/** Ids of those among these people who want to be asked first, and have not accepted to be in this group. */
export async function unasked(db: Db, groupId: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .leftJoin('group_invitations', (join) =>
      join
        .onRef('group_invitations.user_id', '=', 'users.id')
        .on('group_invitations.group_id', '=', groupId)
        .on('group_invitations.accepted_at', 'is not', null),
    )
    .select('users.id')
    .where('users.id', 'in', userIds)
    .where('users.asked_first', '=', 1)
    .where('group_invitations.user_id', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Ids of the people who are asked whether they want to be in a group, whatever they have said. */
export async function askedIds(db: Db, groupId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('group_invitations')
    .select('user_id')
    .where('group_id', '=', groupId)
    .execute();
  return rows.map((row) => row.user_id);
}

/** Counts the invitations that wait for these people, by person, without those of people whom they have blocked. */
export async function invitationCounts(
  db: Db,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('group_invitations')
    .innerJoin('groups', 'groups.id', 'group_invitations.group_id')
    .leftJoin('blocks', (join) =>
      join
        .onRef('blocks.user_id', '=', 'group_invitations.user_id')
        .onRef('blocks.blocked_id', '=', 'groups.creator_id'),
    )
    .select(['group_invitations.user_id', sql<number>`count(*)`.as('count')])
    .where('group_invitations.user_id', 'in', userIds)
    .where('blocks.user_id', 'is', null)
    .groupBy('group_invitations.user_id')
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.count]));
}

export async function insertInvitations(
  db: Db,
  groupId: string,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  if (userIds.length === 0) return;
  await db
    .insertInto('group_invitations')
    .values(
      userIds.map((userId) => ({ user_id: userId, group_id: groupId, created_at: now, accepted_at: null })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function markAccepted(db: Db, { groupId, userId }: InvitationKey, now: number): Promise<void> {
  await db
    .updateTable('group_invitations')
    .set({ accepted_at: now })
    .where('group_id', '=', groupId)
    .where('user_id', '=', userId)
    .where('accepted_at', 'is', null)
    .execute();
}

/** Returns whether any of these people was asked. */
export async function deleteInvitations(
  db: Db,
  groupId: string,
  userIds: readonly string[],
): Promise<boolean> {
  if (userIds.length === 0) return false;
  const { numDeletedRows } = await db
    .deleteFrom('group_invitations')
    .where('group_id', '=', groupId)
    .where('user_id', 'in', userIds)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Deletes the invitations that came to nothing. */
export async function deleteOldGroupInvitations(db: Db, createdUntil: number): Promise<void> {
  await db.deleteFrom('group_invitations').where('created_at', '<=', createdUntil).execute();
}
