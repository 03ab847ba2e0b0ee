import { sql } from 'kysely';
import type { Db } from '../db/tables.ts';

export interface BlobRow {
  readonly id: string;
  readonly userId: string;
  /** Bytes of the whole. */
  readonly length: number;
  /** Bytes that are known to be on disk. */
  readonly received: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Null until it is whole. */
  readonly finishedAt: number | null;
}

export interface BlobTotals {
  /** How many there are of one person, unfinished ones included. */
  readonly blobs: number;
  /** The bytes that all of them take on disk once they are whole. */
  readonly bytes: number;
}

const blockBytes = 4096;
/** The bytes that a file takes on disk, so that many small ones count as what they are. */
const onDisk = (length: number) => Math.ceil(length / blockBytes) * blockBytes;

export async function findBlob(db: Db, id: string): Promise<BlobRow | null> {
  const row = await db.selectFrom('blobs').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined
    ? null
    : {
        id,
        userId: row.user_id,
        length: row.length,
        received: row.received,
        createdAt: row.created_at,
        finishedAt: row.finished_at,
      };
}

export async function blobTotals(db: Db, userId: string): Promise<BlobTotals> {
  const row = await db
    .selectFrom('blob_totals')
    .select(['blobs', 'bytes'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row ?? { blobs: 0, bytes: 0 };
}

/** Counts a person's uploads that are not whole, of those that were created after a time. */
export async function countUnfinished(db: Db, userId: string, since: number): Promise<number> {
  const row = await db
    .selectFrom('blobs')
    .select(sql<number>`count(*)`.as('count'))
    .where('user_id', '=', userId)
    .where('finished_at', 'is', null)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
  return row.count;
}

/**
 * Counts a blob as its person's, and keeps other transactions from counting until this one has ended.
 * @returns what there is of theirs then
 */
export async function countBlob(db: Db, userId: string, length: number): Promise<BlobTotals> {
  return db
    .insertInto('blob_totals')
    .values({ user_id: userId, blobs: 1, bytes: onDisk(length) })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((update) => ({
        blobs: update('blob_totals.blobs', '+', 1),
        bytes: update('blob_totals.bytes', '+', onDisk(length)),
      })),
    )
    .returning(['blobs', 'bytes'])
    .executeTakeFirstOrThrow();
}

export async function insertBlob(
  db: Db,
  { id, userId, length, createdAt }: Pick<BlobRow, 'id' | 'userId' | 'length' | 'createdAt'>,
): Promise<void> {
  await db.insertInto('blobs').values({ id, user_id: userId, length, created_at: createdAt }).execute();
}

/**
 * Notes how much of a blob is on disk.
 * @param progress.from as much as was noted before
 * @returns false if something else is noted by now, or the blob is gone
 */
export async function noteReceived(
  db: Db,
  id: string,
  progress: { readonly from: number; readonly to: number; readonly finishedAt: number | null },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('blobs')
    .set({ received: progress.to, finished_at: progress.finishedAt })
    .where('id', '=', id)
    .where('received', '=', progress.from)
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** A blob whose row is gone. */
export interface TakenBlob {
  readonly id: string;
  /** Bytes that were announced and had not come. */
  readonly unsent: number;
}

/**
 * Deletes rows of one person's blobs, and notes that their files are to follow.
 * @returns those that were there: of several calls at once, one has each
 */
export async function takeOutBlobs(db: Db, userId: string, ids: readonly string[]): Promise<TakenBlob[]> {
  return db.transaction().execute(async (tx) => {
    // As where one is counted: the totals first.
    await tx.selectFrom('blob_totals').select('user_id').where('user_id', '=', userId).forUpdate().execute();
    const deleted = await tx
      .deleteFrom('blobs')
      .where('user_id', '=', userId)
      .where('id', 'in', ids)
      .returning(['id', 'length', 'received'])
      .execute();
    if (deleted.length === 0) return [];
    await tx
      .insertInto('deleted_blobs')
      .values(deleted.map(({ id }) => ({ id })))
      .execute();
    const bytes = deleted.reduce((sum, { length }) => sum + onDisk(length), 0);
    await tx
      .updateTable('blob_totals')
      .set((row) => ({ blobs: row('blobs', '-', deleted.length), bytes: row('bytes', '-', bytes) }))
      .where('user_id', '=', userId)
      .execute();
    return deleted.map(({ id, length, received }) => ({ id, unsent: length - received }));
  });
}

/** Notes that the files of a person are to be deleted, whose rows go with the account. */
export async function noteDeletedBlobsOf(db: Db, userId: string): Promise<void> {
  await db
    .insertInto('deleted_blobs')
    .columns(['id'])
    .expression((from) => from.selectFrom('blobs').select('id').where('user_id', '=', userId))
    .execute();
}

/** Ids of blobs whose rows are gone and whose files may still be there. */
export async function deletedBlobs(db: Db, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('deleted_blobs').select('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** Forgets blobs whose files are gone, too. */
export async function forgetBlobs(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.deleteFrom('deleted_blobs').where('id', 'in', ids).execute();
}

/** An id with the person whose it is. */
export type OwnedBlob = Pick<BlobRow, 'id' | 'userId'>;

/** Blobs that became whole at a time or before, oldest first. */
export async function oldBlobs(db: Db, until: number, limit: number): Promise<OwnedBlob[]> {
  const rows = await db
    .selectFrom('blobs')
    .select(['id', 'user_id'])
    .where('finished_at', '<=', until)
    .orderBy('finished_at')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, userId: row.user_id }));
}

/** Uploads that were created at a time or before and are not whole, oldest first. */
export async function oldUploads(db: Db, until: number, limit: number): Promise<OwnedBlob[]> {
  const rows = await db
    .selectFrom('blobs')
    .select(['id', 'user_id'])
    .where('finished_at', 'is', null)
    .where('created_at', '<=', until)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, userId: row.user_id }));
}

/** Whole blobs after an id, in the order of their ids. */
export async function wholeBlobsAfter(
  db: Db,
  id: string,
  limit: number,
): Promise<(OwnedBlob & Pick<BlobRow, 'length'>)[]> {
  const rows = await db
    .selectFrom('blobs')
    .select(['id', 'user_id', 'length'])
    .where('id', '>', id)
    .where('finished_at', 'is not', null)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, userId: row.user_id, length: row.length }));
}

/** Returns those of these ids that have a row. */
export async function knownBlobs(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('blobs').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Returns whether there is any. */
export async function hasBlobs(db: Db): Promise<boolean> {
  return (await db.selectFrom('blobs').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** The bytes of everybody's, as the disk counts them. */
export async function allBlobBytes(db: Db): Promise<number> {
  const row = await db
    .selectFrom('blob_totals')
    .select(sql<number>`coalesce(sum(bytes), 0)`.as('bytes'))
    .executeTakeFirstOrThrow();
  return row.bytes;
}
