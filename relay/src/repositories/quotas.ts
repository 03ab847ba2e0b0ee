import { sql } from 'kysely';
import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';

export interface Storing {
  readonly userId: string;
  readonly bytes: number;
  readonly entries: number;
  /** Days since the epoch. */
  readonly day: number;
}

/**
 * Counts entries that a person stores, and the bytes of their content, fewer for negative numbers. Answers how many bytes of
 * theirs are kept then, and how many entries they have stored on this day.
 */
export const storing = prepared<Storing>()((db, parameter) =>
  db
    .insertInto('stored_bytes')
    .values({
      user_id: parameter('userId'),
      bytes: parameter('bytes'),
      day: parameter('day'),
      entries: parameter('entries'),
    })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((update) => ({
        bytes: update('stored_bytes.bytes', '+', update.ref('excluded.bytes')),
        day: update.ref('excluded.day'),
        // Another day begins anew, an earlier one too: a clock that was ahead must not keep anybody's count.
        entries: update
          .case()
          .when('stored_bytes.day', '=', update.ref('excluded.day'))
          .then(update('stored_bytes.entries', '+', update.ref('excluded.entries')))
          .else(update.ref('excluded.entries'))
          .end(),
      })),
    )
    .returning(['bytes', 'entries']),
);

/** Bytes by the id of the person who has stored them. */
export type BytesOf = ReadonlyMap<string, number>;

/** Makes other transactions that count what these people store wait until this one has ended. */
export async function lockStoredBytes(db: Db, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return;
  await db
    .selectFrom('stored_bytes')
    .select('user_id')
    .where('user_id', 'in', userIds)
    .orderBy('user_id')
    .forUpdate()
    .execute();
}

/** Counts content that is deleted as its senders' no more. What was stored before it was counted leaves nothing below zero. */
export async function releaseBytes(db: Db, released: BytesOf): Promise<void> {
  // In one order, whoever does it: two who release the same people's must not wait for each other.
  for (const [userId, bytes] of [...released].sort(([one], [other]) => (one < other ? -1 : 1))) {
    await db
      .updateTable('stored_bytes')
      .set({ bytes: sql<number>`case when bytes > ${bytes} then bytes - ${bytes} else 0 end` })
      .where('user_id', '=', userId)
      .execute();
  }
}

/** The bytes of content in a log, by sender. */
export async function bytesIn(db: Db, conversationId: string): Promise<BytesOf> {
  const rows = await db
    .selectFrom('entries')
    .select(['sender_id', sql<number>`sum(length(content))`.as('bytes')])
    .where('conversation_id', '=', conversationId)
    .groupBy('sender_id')
    .execute();
  return new Map(rows.map((row) => [row.sender_id, row.bytes]));
}

/** The bytes of the Welcomes that a person has sent and that have not been fetched. */
export async function welcomeBytesOf(db: Db, senderId: string): Promise<number> {
  const row = await db
    .selectFrom('welcomes')
    .select(sql<number>`coalesce(sum(length(content)), 0)`.as('bytes'))
    .where('sender_id', '=', senderId)
    .executeTakeFirstOrThrow();
  return row.bytes;
}

/** The bytes of the GroupInfos, and of the trees beside them, of the groups that the creator of one has made, but for that one's. */
export async function otherGroupInfoBytes(db: Db, conversationId: string): Promise<number> {
  const row = await db
    .selectFrom('groups as one')
    .innerJoin('groups as other', 'other.creator_id', 'one.creator_id')
    .innerJoin('conversations', 'conversations.id', 'other.conversation_id')
    .leftJoin('trees', 'trees.conversation_id', 'conversations.id')
    .select(
      sql<number>`coalesce(sum(length(conversations.group_info) + coalesce(trees.bytes, 0)), 0)`.as('bytes'),
    )
    .where('one.conversation_id', '=', conversationId)
    .where('other.conversation_id', '<>', conversationId)
    .executeTakeFirstOrThrow();
  return row.bytes;
}

/** The bytes of the GroupInfo of a conversation. */
export async function groupInfoBytes(db: Db, conversationId: string): Promise<number> {
  const row = await db
    .selectFrom('conversations')
    .select(sql<number>`length(group_info)`.as('bytes'))
    .where('id', '=', conversationId)
    .executeTakeFirst();
  return row?.bytes ?? 0;
}

/** The bytes of the KeyPackages of a person's devices. */
export async function keyPackageBytesOf(db: Db, userId: string): Promise<number> {
  const row = await db
    .selectFrom('key_packages')
    .innerJoin('devices', 'devices.id', 'key_packages.device_id')
    .select(sql<number>`coalesce(sum(length(key_packages.content)), 0)`.as('bytes'))
    .where('devices.user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return row.bytes;
}

/**
 * Counts the groups that each of these people is in. Of groups that are held back, which they can't leave, only those of this
 * creator count, who sees no difference by that.
 */
export async function groupCounts(
  db: Db,
  userIds: readonly string[],
  creatorId: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('participants')
    .innerJoin('groups', 'groups.conversation_id', 'participants.conversation_id')
    .select(['participants.user_id', sql<number>`count(*)`.as('count')])
    .where('participants.user_id', 'in', userIds)
    .where((where) =>
      where.or([where('participants.held', '=', 0), where('groups.creator_id', '=', creatorId)]),
    )
    .groupBy('participants.user_id')
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.count]));
}

/**
 * Counts the pending contact requests that a person has sent, or has received; of the latter without those of people whom they
 * have blocked, which they neither see nor can answer.
 */
export async function countRequests(
  db: Db,
  end: 'from_user_id' | 'to_user_id',
  userId: string,
): Promise<number> {
  const row = await db
    .selectFrom('contact_requests')
    .select(sql<number>`count(*)`.as('count'))
    .where(end, '=', userId)
    .$if(end === 'to_user_id', (query) =>
      query.where((where) =>
        where.not(
          where.exists(
            where
              .selectFrom('blocks')
              .select('blocks.user_id')
              .where('blocks.user_id', '=', userId)
              .whereRef('blocks.blocked_id', '=', 'contact_requests.from_user_id'),
          ),
        ),
      ),
    )
    .executeTakeFirstOrThrow();
  return row.count;
}
