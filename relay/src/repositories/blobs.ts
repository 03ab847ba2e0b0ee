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

/** A blob of somebody who has an account. */
export async function findBlob(db: Db, id: string): Promise<BlobRow | null> {
  const row = await db
    .selectFrom('blobs')
    .innerJoin('users', 'users.id', 'blobs.user_id')
    .select(['user_id', 'length', 'received', 'blobs.created_at', 'finished_at'])
    .where('blobs.id', '=', id)
    .executeTakeFirst();
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

/** The uploads of one device that are not whole, of those that were created after a time. */
export async function unfinishedOf(
  db: Db,
  { userId, deviceId, since }: { readonly userId: string; readonly deviceId: string; readonly since: number },
): Promise<{ id: string; length: number }[]> {
  return db
    .selectFrom('blobs')
    .select(['id', 'length'])
    .where('user_id', '=', userId)
    .where('finished_at', 'is', null)
    .where('created_at', '>', since)
    .where('device_id', '=', deviceId)
    .orderBy('created_at')
    .execute();
}

/** The bytes that everybody's uploads have still to bring, of those that were created or written after a time. */
export async function bytesToCome(db: Db, since: number): Promise<number> {
  const row = await db
    .selectFrom('blobs')
    .select(sql<number>`coalesce(sum(length - received), 0)`.as('bytes'))
    .where('finished_at', 'is', null)
    .where((where) => where.or([where('created_at', '>', since), where('writer_until', '>', since)]))
    .executeTakeFirstOrThrow();
  return row.bytes;
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
  blob: Pick<BlobRow, 'id' | 'userId' | 'length' | 'createdAt'> & { readonly deviceId: string | null },
): Promise<void> {
  const { id, userId, deviceId, length, createdAt } = blob;
  await db
    .insertInto('blobs')
    .values({ id, user_id: userId, device_id: deviceId, length, created_at: createdAt })
    .execute();
}

/** The turn of a relay to write an upload, which others keep out of until it is over. Times are milliseconds since the epoch. */
export interface Lease {
  /** Names the relay. */
  readonly writer: string;
  readonly now: number;
  readonly until: number;
}

/** Lets a relay write an upload, unless another one does. */
export async function takeLease(db: Db, id: string, { writer, now, until }: Lease): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('blobs')
    .set({ writer, writer_until: until })
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .where((where) =>
      where.or([where('writer', 'is', null), where('writer', '=', writer), where('writer_until', '<=', now)]),
    )
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Lets others write an upload, if this relay did. */
export async function endLease(db: Db, id: string, writer: string): Promise<void> {
  await db
    .updateTable('blobs')
    .set({ writer: null })
    .where('id', '=', id)
    .where('writer', '=', writer)
    .execute();
}

/**
 * Notes how much of a blob is on disk, for the relay that writes it.
 * @param progress.from as much as was noted before
 * @returns false if another relay writes it, something else is noted by now, or the blob is gone
 */
export async function noteReceived(
  db: Db,
  id: string,
  progress: {
    readonly lease: Lease;
    readonly from: number;
    readonly to: number;
    readonly finishedAt: number | null;
  },
): Promise<boolean> {
  const { lease, from, to, finishedAt } = progress;
  const whole = { finished_at: finishedAt, device_id: null, writer: null, writer_until: null };
  const { numUpdatedRows } = await db
    .updateTable('blobs')
    .set({ received: to, ...(finishedAt === null ? { writer_until: lease.until } : whole) })
    .where('id', '=', id)
    .where('writer', '=', lease.writer)
    .where('received', '=', from)
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

/** Blobs of accounts that are deleted. */
export async function blobsOfDeleted(db: Db, limit: number): Promise<OwnedBlob[]> {
  const rows = await db
    .selectFrom('blobs')
    .select(['id', 'user_id'])
    .where('user_id', 'in', (deleted) => deleted.selectFrom('deleted_accounts').select('user_id'))
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

/** The name that the folder of this database's files bears. */
export async function blobFolder(db: Db): Promise<string> {
  const { value } = await db
    .selectFrom('operator_settings')
    .select('value')
    .where('name', '=', 'blob-folder')
    .executeTakeFirstOrThrow();
  return value;
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
