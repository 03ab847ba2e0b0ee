import { directConversationId } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';

export interface BlockRow {
  /** The person who is blocked. */
  readonly id: string;
  readonly username: string;
  readonly createdAt: number;
}

/** How far a direct conversation is shown to the person who has blocked the other. */
export interface Held {
  readonly conversationId: string;
  /** The last position that is shown; 0 for none. */
  readonly seq: number;
  readonly epoch: number;
}

/** The people whom a person has blocked, by name. */
export async function blocksOf(db: Db, userId: string): Promise<BlockRow[]> {
  const rows = await db
    .selectFrom('blocks')
    .innerJoin('users', 'users.id', 'blocks.blocked_id')
    .select(['users.id', 'users.username', 'blocks.created_at'])
    .where('blocks.user_id', '=', userId)
    .orderBy('users.username_key')
    .execute();
  return rows.map(({ id, username, created_at: createdAt }) => ({ id, username, createdAt }));
}

/** Returns whether the first person has blocked the second. */
export async function hasBlocked(db: Db, userId: string, otherId: string): Promise<boolean> {
  const row = await db
    .selectFrom('blocks')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('blocked_id', '=', otherId)
    .executeTakeFirst();
  return row !== undefined;
}

/** The people among these who have blocked that one. */
export async function blockersAmong(
  db: Db,
  userIds: readonly string[],
  blockedId: string,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('blocks')
    .select('user_id')
    .where('blocked_id', '=', blockedId)
    .where('user_id', 'in', userIds)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** The direct conversations that are held back from a person. */
export async function heldFrom(db: Db, userId: string): Promise<Held[]> {
  const rows = await db
    .selectFrom('blocks')
    .select(['blocked_id', 'seen_seq', 'seen_epoch'])
    .where('user_id', '=', userId)
    .execute();
  return rows.map((row) => ({
    conversationId: directConversationId(userId, row.blocked_id),
    seq: row.seen_seq,
    epoch: row.seen_epoch,
  }));
}

/** @param block.seen how far their direct conversation has come */
export async function insertBlock(
  db: Db,
  block: { userId: string; blockedId: string; seen: { lastSeq: number; epoch: number } },
  now: number,
): Promise<void> {
  await db
    .insertInto('blocks')
    .values({
      user_id: block.userId,
      blocked_id: block.blockedId,
      seen_seq: block.seen.lastSeq,
      seen_epoch: block.seen.epoch,
      created_at: now,
    })
    .execute();
}

/** False if the person was not blocked. */
export async function deleteBlock(db: Db, userId: string, blockedId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('blocks')
    .where('user_id', '=', userId)
    .where('blocked_id', '=', blockedId)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

/** Ids of the groups' conversations that are held back from a person. */
export async function heldGroupsOf(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('participants')
    .select('conversation_id')
    .where('user_id', '=', userId)
    .where('held', '=', 1)
    .execute();
  return rows.map((row) => row.conversation_id);
}

/** Makes a person see the groups again that another one has created. Returns whether there were any. */
export async function releaseGroups(db: Db, userId: string, creatorId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('participants')
    .set({ held: 0 })
    .where('user_id', '=', userId)
    .where('held', '=', 1)
    .where('conversation_id', 'in', (groups) =>
      groups.selectFrom('groups').select('groups.conversation_id').where('creator_id', '=', creatorId),
    )
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Makes everybody see the groups again that a person has created. Returns who does, and which. */
export async function releaseGroupsOf(
  db: Db,
  creatorId: string,
): Promise<{ readonly conversationId: string; readonly memberId: string }[]> {
  const rows = await db
    .updateTable('participants')
    .set({ held: 0 })
    .where('held', '=', 1)
    .where('conversation_id', 'in', (groups) =>
      groups.selectFrom('groups').select('groups.conversation_id').where('creator_id', '=', creatorId),
    )
    .returning(['conversation_id', 'user_id'])
    .execute();
  return rows.map((row) => ({ conversationId: row.conversation_id, memberId: row.user_id }));
}
