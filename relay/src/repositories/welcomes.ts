import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/tables.ts';
import { countWithin } from './entries.ts';

export interface NewWelcome {
  readonly conversationId: string;
  readonly epoch: number;
  readonly seq: number;
  readonly content: Buffer;
  readonly deviceIds: readonly string[];
  readonly senderId: string;
  /** The hash of the tree that it names, in hexadecimal; null where it has its own. */
  readonly treeHash: string | null;
}

export interface DeliveredWelcome {
  /** The id of this device's copy. */
  readonly id: string;
  readonly conversationId: string;
  readonly epoch: number;
  readonly seq: number;
  readonly content: Buffer;
  readonly treeHash: string | null;
}

/** Stores a Welcome once, and puts it into the mailbox of every device it is for. */
export async function insertWelcome(db: Db, welcome: NewWelcome, now: number): Promise<void> {
  const id = randomUUID();
  await db
    .insertInto('welcomes')
    .values({
      id,
      conversation_id: welcome.conversationId,
      epoch: welcome.epoch,
      seq: welcome.seq,
      content: welcome.content,
      created_at: now,
      sender_id: welcome.senderId,
      tree_hash: welcome.treeHash,
    })
    .execute();
  await db
    .insertInto('welcome_deliveries')
    .values(welcome.deviceIds.map((deviceId) => ({ id: randomUUID(), welcome_id: id, device_id: deviceId })))
    .execute();
}

/**
 * A device's mailbox, oldest first.
 * @param except ids of conversations to leave out
 * @param maxBytes no more content than this altogether, except that the first Welcome always comes
 */
export async function welcomesOf(
  db: Db,
  deviceId: string,
  { except, maxBytes }: { readonly except: readonly string[]; readonly maxBytes: number },
): Promise<DeliveredWelcome[]> {
  const sizes = await db
    .selectFrom('welcome_deliveries')
    .innerJoin('welcomes', 'welcomes.id', 'welcome_deliveries.welcome_id')
    .select(['welcome_deliveries.id', sql<number>`length(welcomes.content)`.as('size')])
    .where('welcome_deliveries.device_id', '=', deviceId)
    .$if(except.length > 0, (query) => query.where('welcomes.conversation_id', 'not in', except))
    .orderBy('welcomes.created_at')
    .orderBy('welcomes.seq')
    .orderBy('welcome_deliveries.id')
    .execute();
  const ids = sizes.slice(0, countWithin(sizes, maxBytes)).map((row) => row.id);
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('welcome_deliveries')
    .innerJoin('welcomes', 'welcomes.id', 'welcome_deliveries.welcome_id')
    .select('welcome_deliveries.id')
    .select(['welcomes.conversation_id', 'welcomes.epoch', 'welcomes.seq', 'welcomes.content'])
    .select('welcomes.tree_hash')
    .where('welcome_deliveries.id', 'in', ids)
    .orderBy('welcomes.created_at')
    .orderBy('welcomes.seq')
    .orderBy('welcome_deliveries.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    conversationId: row.conversation_id,
    epoch: row.epoch,
    seq: row.seq,
    content: row.content,
    treeHash: row.tree_hash,
  }));
}

/** Takes a Welcome out of a device's mailbox; the last one to do so removes it altogether. False if it was not there. */
export async function deleteDelivery(db: Db, id: string, deviceId: string): Promise<boolean> {
  const delivery = await db
    .deleteFrom('welcome_deliveries')
    .where('id', '=', id)
    .where('device_id', '=', deviceId)
    .returning('welcome_id')
    .executeTakeFirst();
  if (delivery === undefined) return false;
  await deleteUndelivered(db, [delivery.welcome_id]);
  return true;
}

/** Takes the Welcomes of one conversation out of the mailboxes of a person's devices. */
export async function deleteWelcomesTo(db: Db, userId: string, conversationId: string): Promise<void> {
  const taken = await db
    .deleteFrom('welcome_deliveries')
    .where('device_id', 'in', (devices) =>
      devices.selectFrom('devices').select('devices.id').where('user_id', '=', userId),
    )
    .where('welcome_id', 'in', (welcomes) =>
      welcomes.selectFrom('welcomes').select('welcomes.id').where('conversation_id', '=', conversationId),
    )
    .returning('welcome_id')
    .execute();
  await deleteUndelivered(
    db,
    taken.map((row) => row.welcome_id),
  );
}

/** Empties a device's mailbox. */
export async function deleteMailbox(db: Db, deviceId: string): Promise<void> {
  const taken = await db
    .deleteFrom('welcome_deliveries')
    .where('device_id', '=', deviceId)
    .returning('welcome_id')
    .execute();
  await deleteUndelivered(
    db,
    taken.map((row) => row.welcome_id),
  );
}

/** Deletes those of these Welcomes that are in nobody's mailbox any more. */
async function deleteUndelivered(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // Two that empty the last mailboxes at once would each see the other's.
  await db.selectFrom('welcomes').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute();
  await db
    .deleteFrom('welcomes')
    .where('id', 'in', ids)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('welcome_deliveries')
            .select('welcome_deliveries.id')
            .whereRef('welcome_deliveries.welcome_id', '=', 'welcomes.id'),
        ),
      ),
    )
    .execute();
}
