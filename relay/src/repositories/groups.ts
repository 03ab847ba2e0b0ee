import type { Db } from '../db/tables.ts';

export interface GroupRow {
  readonly id: string;
  readonly conversationId: string;
  readonly creatorId: string | null;
  readonly sealedName: Buffer;
  readonly nameEpoch: number;
  readonly createdAt: number;
  readonly memberCount: number;
  /** The last position of the group's log; 0 before the first commit. */
  readonly lastSeq: number;
}

export interface Member {
  readonly id: string;
  readonly username: string;
}

export interface NewGroup {
  readonly id: string;
  readonly conversationId: string;
  readonly creatorId: string;
  readonly sealedName: Buffer;
}

/** Creates a group with its conversation, which has not been started, and its one member. False if the id is taken. */
export async function insertGroup(db: Db, group: NewGroup, now: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('conversations')
    .values({
      id: group.conversationId,
      epoch: 0,
      last_seq: 0,
      group_info: Buffer.alloc(0),
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return false;
  await db
    .insertInto('groups')
    .values({
      id: group.id,
      conversation_id: group.conversationId,
      creator_id: group.creatorId,
      sealed_name: group.sealedName,
      name_epoch: 0,
      created_at: now,
    })
    .execute();
  await db
    .insertInto('participants')
    .values({ conversation_id: group.conversationId, user_id: group.creatorId, read_seq: 0 })
    .execute();
  return true;
}

export async function groupCreator(db: Db, id: string): Promise<string | null> {
  const row = await db.selectFrom('groups').select('creator_id').where('id', '=', id).executeTakeFirst();
  return row?.creator_id ?? null;
}

/** A group, if this person is a member of it. */
export async function findGroup(db: Db, id: string, userId: string): Promise<GroupRow | null> {
  const [group] = await groupsWhere(db, userId, id);
  return group ?? null;
}

/** Groups that a person is a member of, oldest first. */
export async function groupsOf(db: Db, userId: string): Promise<GroupRow[]> {
  return groupsWhere(db, userId);
}

async function groupsWhere(db: Db, userId: string, id?: string): Promise<GroupRow[]> {
  const rows = await db
    .selectFrom('participants as self')
    .innerJoin('groups', 'groups.conversation_id', 'self.conversation_id')
    .innerJoin('conversations', 'conversations.id', 'groups.conversation_id')
    .select('conversations.last_seq')
    .select(['groups.id', 'groups.conversation_id', 'groups.creator_id'])
    .select(['groups.sealed_name', 'groups.name_epoch', 'groups.created_at'])
    .select((select) =>
      select
        .selectFrom('participants as member')
        .whereRef('member.conversation_id', '=', 'groups.conversation_id')
        .select((count) => count.fn.countAll<number>().as('count'))
        .as('member_count'),
    )
    .where('self.user_id', '=', userId)
    .where('self.held', '=', 0)
    .$if(id !== undefined, (query) => query.where('groups.id', '=', id ?? ''))
    .orderBy('groups.created_at')
    .orderBy('groups.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    conversationId: row.conversation_id,
    creatorId: row.creator_id,
    sealedName: row.sealed_name,
    nameEpoch: row.name_epoch,
    createdAt: row.created_at,
    memberCount: row.member_count ?? 0,
    lastSeq: row.last_seq,
  }));
}

/** Members of a group's conversation, by name. */
export async function membersOf(db: Db, conversationId: string): Promise<Member[]> {
  return db
    .selectFrom('participants')
    .innerJoin('users', 'users.id', 'participants.user_id')
    .select(['users.id', 'users.username'])
    .where('participants.conversation_id', '=', conversationId)
    .orderBy('users.username_key')
    .execute();
}

/** Deletes the groups that never got their first commit: the browser that was creating them is gone. */
export async function deleteUnbegunGroups(db: Db, createdUntil: number): Promise<void> {
  await db
    .deleteFrom('conversations')
    .where('last_seq', '=', 0)
    .where('id', 'in', (query) =>
      query
        .selectFrom('groups')
        .select('conversation_id')
        .where('name_epoch', '=', 0)
        .where('created_at', '<=', createdUntil),
    )
    .execute();
}

/** @param name sealed under a key of `epoch`. False if there is one of that epoch or a later one already. */
export async function renameGroup(
  db: Db,
  id: string,
  name: { sealedName: Buffer; epoch: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('groups')
    .set({ sealed_name: name.sealedName, name_epoch: name.epoch })
    .where('id', '=', id)
    .where('name_epoch', '<', name.epoch)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Returns whether two people are members of one group that isn't held back from the first. */
export async function shareGroup(db: Db, userId: string, otherId: string): Promise<boolean> {
  const row = await db
    .selectFrom('participants as one')
    .innerJoin('participants as other', 'other.conversation_id', 'one.conversation_id')
    .select('one.conversation_id')
    .where('one.user_id', '=', userId)
    .where('one.held', '=', 0)
    .where('other.user_id', '=', otherId)
    .where('one.conversation_id', 'like', 'group:%')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Ids of everybody who is a member of a group with this person.
 * @param to the direction: those who hear of this person, or whom this person sees. A group is held back from its member alone.
 */
export async function fellowMemberIds(db: Db, userId: string, to: 'hearing' | 'seen'): Promise<string[]> {
  const rows = await db
    .selectFrom('participants as self')
    .innerJoin('participants as other', 'other.conversation_id', 'self.conversation_id')
    .select('other.user_id')
    .distinct()
    .where('self.user_id', '=', userId)
    .where('other.user_id', '!=', userId)
    .where(to === 'hearing' ? 'other.held' : 'self.held', '=', 0)
    .where('self.conversation_id', 'like', 'group:%')
    .execute();
  return rows.map((row) => row.user_id);
}
