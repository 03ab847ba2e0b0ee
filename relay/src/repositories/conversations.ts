import type { Db } from '../db/tables.ts';

export interface ConversationRow {
  readonly id: string;
  readonly epoch: number;
  readonly lastSeq: number;
  /** How far the one who asks, and the other participant, have read. */
  readonly readSeq: number;
  readonly peerReadSeq: number;
}

/** Direct conversations that a person takes part in. */
export async function conversationsOf(db: Db, userId: string): Promise<ConversationRow[]> {
  const rows = await db
    .selectFrom('participants as self')
    .innerJoin('participants as peer', (join) =>
      join
        .onRef('peer.conversation_id', '=', 'self.conversation_id')
        .onRef('peer.user_id', '!=', 'self.user_id'),
    )
    .innerJoin('conversations', 'conversations.id', 'self.conversation_id')
    .select(['conversations.id', 'conversations.epoch', 'conversations.last_seq'])
    .select(['self.read_seq', 'peer.read_seq as peer_read_seq'])
    .where('self.user_id', '=', userId)
    .orderBy('conversations.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    epoch: row.epoch,
    lastSeq: row.last_seq,
    readSeq: row.read_seq,
    peerReadSeq: row.peer_read_seq,
  }));
}

/** Null if the conversation has not been started. */
export async function findEpoch(db: Db, id: string): Promise<number | null> {
  const row = await db.selectFrom('conversations').select('epoch').where('id', '=', id).executeTakeFirst();
  return row?.epoch ?? null;
}

export async function findGroupInfo(
  db: Db,
  id: string,
): Promise<{ epoch: number; groupInfo: Buffer } | null> {
  const row = await db
    .selectFrom('conversations')
    .select(['epoch', 'group_info'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : { epoch: row.epoch, groupInfo: row.group_info };
}

/** Starts a conversation at epoch 1, its first position taken. False if it has been started. */
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

/** Takes the next position of the log for an entry made in `epoch`. Null, and nothing taken, unless that is current. */
export async function takeSeq(db: Db, id: string, epoch: number): Promise<number | null> {
  const row = await db
    .updateTable('conversations')
    .set((update) => ({ last_seq: update('last_seq', '+', 1) }))
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .returning('last_seq')
    .executeTakeFirst();
  return row?.last_seq ?? null;
}

/** As takeSeq, for the commit that ends `epoch`: the conversation moves to the next one. */
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

export async function takesPart(db: Db, conversationId: string, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('participants')
    .select('user_id')
    .where('conversation_id', '=', conversationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** How far each participant has read, by user id. */
export async function readPositions(db: Db, conversationId: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('participants')
    .select(['user_id', 'read_seq'])
    .where('conversation_id', '=', conversationId)
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.read_seq]));
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
