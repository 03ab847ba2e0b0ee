import { prepared } from '../db/prepared.ts';
import type { Db } from '../db/tables.ts';
import { bytesIn, releaseBytes } from './quotas.ts';
import { deleteReceiptsOf } from './receipts.ts';

export interface ConversationRow {
  readonly id: string;
  readonly epoch: number;
  readonly lastSeq: number;
  /** The caller's read position. */
  readonly readSeq: number;
}

/** Conversations that a person takes part in and that have been started. */
export async function conversationsOf(db: Db, userId: string): Promise<ConversationRow[]> {
  const rows = await db
    .selectFrom('participants')
    .innerJoin('conversations', 'conversations.id', 'participants.conversation_id')
    .select(['conversations.id', 'conversations.epoch', 'conversations.last_seq', 'participants.read_seq'])
    .where('participants.user_id', '=', userId)
    .where('participants.held', '=', 0)
    .where('conversations.epoch', '>', 0)
    .orderBy('conversations.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    epoch: row.epoch,
    lastSeq: row.last_seq,
    readSeq: row.read_seq,
  }));
}

export const epochQuery = prepared<{ id: string }>()((db, parameter) =>
  db.selectFrom('conversations').select('epoch').where('id', '=', parameter('id')),
);

/** Null if there is no such conversation; 0 if it is a group's and has not been started. */
export async function findEpoch(db: Db, id: string): Promise<number | null> {
  const [row] = await epochQuery(db, { id });
  return row?.epoch ?? null;
}

export async function findGroupInfo(
  db: Db,
  id: string,
): Promise<{ epoch: number; groupInfo: Buffer; treeHash: string | null } | null> {
  const row = await db
    .selectFrom('conversations')
    .leftJoin('trees', 'trees.conversation_id', 'conversations.id')
    .select(['conversations.epoch', 'conversations.group_info', 'trees.tree_hash'])
    .where('conversations.id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { epoch: row.epoch, groupInfo: row.group_info, treeHash: row.tree_hash };
}

/** Starts a direct conversation at epoch 1, its first position taken. False if it has been started. */
export async function insertConversation(
  db: Db,
  conversation: { id: string; userIds: readonly string[]; groupInfo: Buffer; now: number },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('conversations')
    .values({
      id: conversation.id,
      epoch: 1,
      last_seq: 1,
      group_info: conversation.groupInfo,
      created_at: conversation.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return false;
  await db
    .insertInto('participants')
    .values(
      conversation.userIds.map((userId) => ({
        conversation_id: conversation.id,
        user_id: userId,
        read_seq: 0,
      })),
    )
    .execute();
  return true;
}

/**
 * Takes the next `count` positions of the log for entries made in `epoch`, and answers the last of them. No row, and
 * nothing taken, unless that is current.
 */
export const seqsTaking = prepared<{ id: string; epoch: number; count: number }>()((db, parameter) =>
  db
    .updateTable('conversations')
    .set((update) => ({ last_seq: update('last_seq', '+', parameter('count')) }))
    .where('id', '=', parameter('id'))
    .where('epoch', '=', parameter('epoch'))
    .returning('last_seq'),
);

/** Takes one position for the commit that ends `epoch`: the conversation moves to the next one. Null as above. */
export async function takeSeqAndEndEpoch(
  db: Db,
  id: string,
  epoch: number,
  groupInfo: Buffer,
): Promise<number | null> {
  const row = await db
    .updateTable('conversations')
    .set((update) => ({ last_seq: update('last_seq', '+', 1), epoch: epoch + 1, group_info: groupInfo }))
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .returning('last_seq')
    .executeTakeFirst();
  return row?.last_seq ?? null;
}

/** The current epoch and last position; null if there is no such conversation. */
export async function findReach(
  db: Db,
  id: string,
): Promise<{ readonly epoch: number; readonly lastSeq: number } | null> {
  const row = await db
    .selectFrom('conversations')
    .select(['epoch', 'last_seq'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : { epoch: row.epoch, lastSeq: row.last_seq };
}

/** Makes other transactions that decide on this conversation wait until this one has ended. */
export async function lockConversation(db: Db, id: string): Promise<void> {
  await db.selectFrom('conversations').select('id').where('id', '=', id).forUpdate().execute();
}

/** Returns whether a person takes part in a conversation that isn't held back from them. */
export async function takesPart(db: Db, conversationId: string, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('participants')
    .select('user_id')
    .where('conversation_id', '=', conversationId)
    .where('user_id', '=', userId)
    .where('held', '=', 0)
    .executeTakeFirst();
  return row !== undefined;
}

/** Counts the devices of all people of a conversation. */
export async function countDevices(db: Db, conversationId: string): Promise<number> {
  const row = await db
    .selectFrom('participants')
    .innerJoin('devices', 'devices.user_id', 'participants.user_id')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('participants.conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Ids of all conversations that a person takes part in, started or not. */
export async function conversationIdsOf(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('participants')
    .select('conversation_id')
    .where('user_id', '=', userId)
    .orderBy('conversation_id')
    .execute();
  return rows.map((row) => row.conversation_id);
}

/** The people of a conversation, without those whom it is held back from. */
export const participantsQuery = prepared<{ conversationId: string }>()((db, parameter) =>
  db
    .selectFrom('participants')
    .select('user_id')
    .where('conversation_id', '=', parameter('conversationId'))
    .where('held', '=', 0),
);

/** Ids of the people of a conversation, without those whom it is held back from. */
export async function participantIds(db: Db, conversationId: string): Promise<string[]> {
  return (await participantsQuery(db, { conversationId })).map((row) => row.user_id);
}

/** Ids of the people of a conversation whom it is held back from. */
export async function heldParticipantIds(db: Db, conversationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('participants')
    .select('user_id')
    .where('conversation_id', '=', conversationId)
    .where('held', '=', 1)
    .execute();
  return rows.map((row) => row.user_id);
}

/** The position of the commit that let this person in, 0 for who has been there from the start; null for a stranger. */
export async function joinedSeq(db: Db, conversationId: string, userId: string): Promise<number | null> {
  const row = await db
    .selectFrom('participants')
    .select('joined_seq')
    .where('conversation_id', '=', conversationId)
    .where('user_id', '=', userId)
    .where('held', '=', 0)
    .executeTakeFirst();
  return row?.joined_seq ?? null;
}

/**
 * @param seq position of the commit that lets this person in: what comes before it counts as read
 * @param held the conversation is held back from this person
 */
export async function insertParticipant(
  db: Db,
  participant: { conversationId: string; userId: string; seq: number; held: boolean },
): Promise<void> {
  const { conversationId, userId, seq, held } = participant;
  const position = { read_seq: seq, joined_seq: seq };
  await db
    .insertInto('participants')
    .values({ conversation_id: conversationId, user_id: userId, ...position, held: held ? 1 : 0 })
    .execute();
}

/** Ends a person's part in a conversation, and remembers that they had one. False if they had none. */
export async function removeParticipant(db: Db, conversationId: string, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('participants')
    .where('conversation_id', '=', conversationId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (numDeletedRows !== 1n) return false;
  await deleteReceiptsOf(db, conversationId, userId);
  await db
    .insertInto('past_participants')
    .values({ user_id: userId, conversation_id: conversationId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return true;
}

/** Deletes a conversation with its log, its participants, its Welcomes and, if it is a group's, the group. */
export async function deleteConversation(db: Db, id: string): Promise<void> {
  await releaseBytes(db, await bytesIn(db, id));
  await db.deleteFrom('conversations').where('id', '=', id).execute();
}

/** A person's read position; null for a stranger. */
export async function readPosition(db: Db, conversationId: string, userId: string): Promise<number | null> {
  const row = await db
    .selectFrom('participants')
    .select('read_seq')
    .where('conversation_id', '=', conversationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.read_seq ?? null;
}

/** Moves a read position forward, never back. False if it was there already. */
export async function advanceReadPosition(
  db: Db,
  position: { conversationId: string; userId: string; seq: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('participants')
    .set({ read_seq: position.seq })
    .where('conversation_id', '=', position.conversationId)
    .where('user_id', '=', position.userId)
    .where('read_seq', '<', position.seq)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
