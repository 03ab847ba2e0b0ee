import { sql } from 'kysely';
import { directParticipants } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { deleteConversation } from './conversations.ts';
import { entriesAt } from './entries.ts';
import { digestOf } from './entryDigest.ts';

/** The id that entries carry in place of those of a person who is gone for good and of their device. */
export const nobody = '00000000-0000-0000-0000-000000000000';

/** Entries that one statement changes: on SQLite nothing else is written meanwhile. */
const batchSize = 200;

/** Leaves a record for the purge job. Asking twice changes nothing. */
export async function insertDeletion(db: Db, userId: string, now: number): Promise<void> {
  await db
    .insertInto('deleted_accounts')
    .values({ user_id: userId, deleted_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Ids of accounts that were deleted at `until` or before and have not been purged, oldest first. */
export async function deletedAccounts(db: Db, until: number): Promise<string[]> {
  const rows = await db
    .selectFrom('deleted_accounts')
    .select('user_id')
    .where('deleted_at', '<=', until)
    .orderBy('deleted_at')
    .execute();
  return rows.map((row) => row.user_id);
}

/** Ids of accounts that were deleted at `until` or before, and whose messages are not known to be empty. */
export async function unfinishedDeletions(db: Db, until: number): Promise<string[]> {
  const rows = await db
    .selectFrom('deleted_accounts')
    .select('user_id')
    .where('deleted_at', '<=', until)
    .where('emptied_at', 'is', null)
    .execute();
  return rows.map((row) => row.user_id);
}

export async function markEmptied(db: Db, userId: string, now: number): Promise<void> {
  await db.updateTable('deleted_accounts').set({ emptied_at: now }).where('user_id', '=', userId).execute();
}

/** Empties the messages of a deleted account. Positions, senders, digests and commits stay. */
export async function emptyMessagesOf(db: Db, userId: string): Promise<void> {
  for (const conversationId of await pastConversations(db, userId)) {
    await inBatches(db, { conversationId, userId, kind: 'application' }, async (seqs) => {
      await keepDigests(db, conversationId, seqs);
      await db
        .updateTable('entries')
        .set({ content: Buffer.alloc(0) })
        .where('conversation_id', '=', conversationId)
        .where('seq', 'in', seqs)
        .execute();
    });
  }
}

/**
 * Removes whatever is left of a deleted account, its record last. A direct conversation goes altogether: nobody can
 * write in it, and its ciphertext opens for nobody. In groups the entries become nobody's.
 */
export async function purgeAccount(db: Db, userId: string): Promise<void> {
  for (const conversationId of await pastConversations(db, userId)) {
    if (directParticipants(conversationId) !== null) {
      await deleteConversation(db, conversationId);
      continue;
    }
    await inBatches(db, { conversationId, userId }, async (seqs) => {
      await keepDigests(db, conversationId, seqs);
      await db
        .updateTable('entries')
        .set({ content: Buffer.alloc(0), sender_id: nobody, sender_device_id: nobody })
        .where('conversation_id', '=', conversationId)
        .where('seq', 'in', seqs)
        .execute();
    });
  }
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('departures').where('user_id', '=', userId).execute();
    await tx.deleteFrom('past_participants').where('user_id', '=', userId).execute();
    await tx.deleteFrom('deleted_accounts').where('user_id', '=', userId).execute();
  });
}

/** Keeps what the entries are, for those who read the log later. One that has a digest has lost something already. */
async function keepDigests(db: Db, conversationId: string, seqs: readonly number[]): Promise<void> {
  // One after the other, since commits are large.
  for (const seq of seqs) {
    const [entry] = await entriesAt(db, conversationId, [seq]);
    if (entry === undefined || entry.digest !== null) continue;
    await db
      .updateTable('entries')
      .set({ digest: digestOf(entry) })
      .where('conversation_id', '=', conversationId)
      .where('seq', '=', seq)
      .execute();
  }
}

async function pastConversations(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('past_participants')
    .select('conversation_id')
    .where('user_id', '=', userId)
    .execute();
  return rows.map((row) => row.conversation_id);
}

/** Goes once through what a person wrote in a conversation, upwards. */
async function inBatches(
  db: Db,
  which: { conversationId: string; userId: string; kind?: 'application' },
  change: (seqs: number[]) => Promise<unknown>,
): Promise<void> {
  const { conversationId, userId, kind } = which;
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('entries')
      .select('seq')
      .where('conversation_id', '=', conversationId)
      .where('seq', '>', after)
      .where('sender_id', '=', userId)
      .$if(kind !== undefined, (query) =>
        // An earlier run has emptied those that are empty.
        query.where('kind', '=', 'application').where(sql<number>`length(content)`, '>', 0),
      )
      .orderBy('seq')
      .limit(batchSize)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    await change(rows.map((row) => row.seq));
    after = last.seq;
  }
}
