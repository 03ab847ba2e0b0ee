import { randomBytes, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import { type BlobStorage, uploadLimits } from '../../contract/blobs.ts';
import type { Session } from '../auth/session.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, quotaReached, restarting } from '../errors.ts';
import type { Metrics } from '../metrics/metrics.ts';
import * as rows from '../repositories/blobs.ts';
import type { BlobStore } from './blobStore.ts';
import { OpenReads } from './openReads.ts';
import { eachChunk, type Turn, Writers } from './writers.ts';

/** Milliseconds after which an upload that is not whole is deleted. */
export const uploadLifetime = uploadLimits.hours * 60 * 60 * 1000;

/** Bytes that are written before the disk is waited for. So many are sent again after a loss of power, at most. */
const syncBytes = 4 * 1024 * 1024;

/** Bytes of the disk that blobs leave free, because the database may be on it. */
const reserveBytes = 256 * 1024 * 1024;

/** Milliseconds for which an upload that nobody writes has room kept for the rest of it. */
const roomKept = 60 * 60 * 1000;

/**
 * Milliseconds for which a relay may write an upload before it says so again, and after which it does. One that is gone keeps others from
 * it no longer; and no other one begins while a write may be under way.
 */
export const lease = { lasts: 30_000, renewedAfter: 10_000 } as const;

/** How far an upload is. */
export interface Upload {
  readonly offset: number;
  readonly length: number;
  /** Milliseconds since the epoch, when it will be deleted; null once it is whole. */
  readonly expiresAt: number | null;
}

/** Somebody who uploads. */
export type BlobOwner = Pick<Session, 'userId' | 'deviceId'>;

export interface Appended {
  /** The offset that the caller takes the upload to be at. */
  readonly offset: number;
  /** Bytes that are announced; null if none are. */
  readonly announced: number | null;
  readonly source: Readable;
}

/** Sealed files of people. A blob that is not there, somebody else's, or not whole, is `not-found` alike. */
export interface Blobs {
  /** The limits for one person, what there is of theirs, and the uploads that their device has begun. */
  storage(owner: BlobOwner): Promise<BlobStorage>;
  /** @throws ApiError payload-too-large, quota, storage-full, unavailable */
  create(owner: BlobOwner, length: number): Promise<Upload & { readonly id: string }>;
  /** One's own upload. Ends a call that is writing it. @throws ApiError not-found, gone */
  look(userId: string, id: string): Promise<Upload>;
  /**
   * Appends what a stream brings, as far as it comes. Ends a call that is writing the same upload. All that came counts
   * even if it throws.
   * @throws ApiError not-found, gone, offset-conflict, upload-locked (another relay writes it), payload-too-large, malformed, storage-full,
   *   unavailable
   */
  append(userId: string, id: string, appended: Appended): Promise<Upload>;
  /** The bytes of a whole blob of anybody. @throws ApiError not-found */
  lengthOf(id: string): Promise<number>;
  /**
   * Reads a range of a whole blob, both ends included, for somebody. It ends before its end if they stop reading.
   * @throws ApiError not-found, rate-limited, unavailable
   */
  read(
    userId: string,
    id: string,
    range: { readonly start: number; readonly end: number },
  ): Promise<Readable>;
  /** Deletes one's own. @returns the bytes of it that had not been sent @throws ApiError not-found */
  delete(userId: string, id: string): Promise<number>;
  /** Deletes the files whose rows are gone, as far as it can: a job repeats it. */
  deleteFiles(ids: readonly string[]): Promise<void>;
  /** Deletes what deleted accounts have left, and other files whose rows are gone. */
  deleteLeft(): Promise<void>;
  /** Begins to do so, which nobody waits for: the job goes on with it if the relay stops. */
  deleteSoon(): void;
  /** Ends what is being written, of which what has come counts, and what is being deleted. */
  close(): Promise<void>;
}

export interface BlobsDependencies {
  readonly db: Db;
  readonly store: BlobStore;
  readonly settings: Config['blobs'];
  readonly clock: () => number;
  readonly metrics: Pick<Metrics, 'transferred'>;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

const noSuchBlob = () => new ApiError('not-found', 'There is no such file.');
const takenOver = () => new ApiError('offset-conflict', 'Another call goes on with this upload.');
const otherOffset = () => new ApiError('offset-conflict', 'The upload is not at this offset.');
const locked = () =>
  new ApiError('upload-locked', 'Another server is writing this upload. Try again in a moment.');
const storageFull = () => new ApiError('storage-full', 'The server has no space left.');
const away = () => new ApiError('unavailable', "The server's files can't be used at the moment.");
const tooLong = () => new ApiError('payload-too-large', 'The file is longer than was announced.');

/** Files that are deleted by one statement. */
const bite = 100;

export function createBlobs({ db, store, settings, clock, metrics, log }: BlobsDependencies): Blobs {
  const writers = new Writers();
  const reads = new OpenReads();
  /** Names this relay among those that write the same uploads. */
  const ownName = randomUUID();
  const stop = new AbortController();
  let deleting = Promise.resolve();
  const ownLease = (now = clock()) => ({ writer: ownName, now, until: now + lease.lasts });

  /** @throws ApiError not-found, gone */
  async function ownBlob(userId: string, id: string): Promise<rows.BlobRow> {
    const blob = await rows.findBlob(db, id);
    if (blob === null || blob.userId !== userId) throw noSuchBlob();
    if (blob.finishedAt === null && clock() >= blob.createdAt + uploadLifetime) {
      throw new ApiError('gone', 'The upload was not finished in time.');
    }
    return blob;
  }

  /** The bytes that are really there: what was noted, or fewer, where a backup has brought back a shorter file. */
  async function reached({ id, finishedAt, length, received }: rows.BlobRow): Promise<number> {
    if (finishedAt !== null) return length;
    const size = await store.size(id);
    if (size < received && !(await store.isTheirs())) throw away();
    return Math.min(received, size);
  }

  const uploadAt = (blob: rows.BlobRow, offset: number): Upload => ({
    offset,
    length: blob.length,
    expiresAt: offset === blob.length ? null : blob.createdAt + uploadLifetime,
  });

  /** @returns the offset after it */
  async function write(
    blob: rows.BlobRow,
    offset: number,
    { source }: Appended,
    turn: Turn,
  ): Promise<number> {
    const { id, length } = blob;
    if (!(await store.isTheirs())) throw away();
    let noted = blob.received;
    let position = offset;
    let renewedAt = clock();
    const requireRoom = async () => {
      if ((await store.free()) < reserveBytes + Math.min(syncBytes, length - position)) throw storageFull();
    };
    await requireRoom();
    const writer = await store.append(id, offset);
    const note = async () => {
      await writer.sync();
      const finishedAt = position === length ? clock() : null;
      const progress = { lease: ownLease(), from: noted, to: position, finishedAt };
      if (!(await rows.noteReceived(db, id, progress))) throw takenOver();
      noted = position;
      renewedAt = progress.lease.now;
    };
    const renew = async () => {
      const renewed = ownLease();
      if (!(await rows.takeLease(db, id, renewed))) throw takenOver();
      renewedAt = renewed.now;
    };
    try {
      await eachChunk(source, turn.signal, async (chunk) => {
        if (position + chunk.length > length) throw tooLong();
        if (clock() - renewedAt >= lease.renewedAfter) await renew();
        await writer.write(chunk);
        position += chunk.length;
        metrics.transferred('received', chunk.length);
        if (position - noted < syncBytes || position === length) return;
        await note();
        await requireRoom();
      });
      if (position !== noted) await note();
      return position;
    } catch (error) {
      // A connection that breaks off is what uploads resume for.
      if (position !== noted) await note().catch(() => undefined);
      if (error instanceof ApiError || !source.readableAborted) throw error;
      throw new ApiError('malformed', 'The request body ended early.');
    } finally {
      await writer.close();
    }
  }

  /** Takes out a few rows of accounts that are deleted: all of them at once would keep everybody else from writing. @returns how many */
  async function takeOutOfDeleted(): Promise<number> {
    const found = await rows.blobsOfDeleted(db, bite);
    for (const userId of new Set(found.map((blob) => blob.userId))) {
      const ids = found.filter((blob) => blob.userId === userId).map(({ id }) => id);
      await rows.takeOutBlobs(db, userId, ids);
    }
    return found.length;
  }

  const blobs: Blobs = {
    async storage({ userId, deviceId }) {
      const since = clock() - uploadLifetime;
      const unfinished = deviceId === null ? [] : await rows.unfinishedOf(db, { userId, deviceId, since });
      const { blobs: storedBlobs, bytes: storedBytes } = await rows.blobTotals(db, userId);
      const { maxBytes: maxBlobBytes, quotaBytes, days: blobDays } = settings;
      return { maxBlobBytes, blobDays, quotaBytes, storedBlobs, storedBytes, unfinished };
    },

    async create({ userId, deviceId }, length) {
      if (length > settings.maxBytes) throw new ApiError('payload-too-large', 'The file is too large.');
      if (!(await store.isTheirs()) && !(await store.claim())) throw away();
      const free = await store.free();
      const id = randomBytes(16).toString('base64url');
      const createdAt = clock();
      await db.transaction().execute(async (tx) => {
        const totals = await rows.countBlob(tx, userId, length);
        if (totals.bytes > settings.quotaBytes) {
          throw quotaReached('blobs', 'There is no more room for your files. Old ones are deleted in time.');
        }
        const unfinished = await rows.countUnfinished(tx, userId, createdAt - uploadLifetime);
        if (unfinished >= uploadLimits.unfinished) {
          throw quotaReached('uploads', 'Too many uploads are unfinished. Finish or cancel one first.');
        }
        await rows.insertBlob(tx, { id, userId, deviceId, length, createdAt });
        if (free < (await rows.bytesToCome(tx, createdAt - roomKept)) + reserveBytes) throw storageFull();
      });
      return { id, offset: 0, length, expiresAt: createdAt + uploadLifetime };
    },

    async look(userId, id) {
      // Before the turn is taken from somebody: only its owner may.
      await ownBlob(userId, id);
      const turn = await writers.take(id, takenOver);
      try {
        const blob = await ownBlob(userId, id);
        return uploadAt(blob, await reached(blob));
      } finally {
        turn.end();
      }
    },

    async append(userId, id, appended) {
      await ownBlob(userId, id);
      const turn = await writers.take(id, takenOver);
      try {
        const isOurs = await rows.takeLease(db, id, ownLease());
        try {
          const blob = await ownBlob(userId, id);
          if (!isOurs && blob.finishedAt === null) throw locked();
          const offset = await reached(blob);
          if (offset !== appended.offset) throw otherOffset();
          if (offset + (appended.announced ?? 0) > blob.length) throw tooLong();
          if (offset === blob.length) return uploadAt(blob, offset);
          return uploadAt(blob, await write(blob, offset, appended, turn));
        } finally {
          // It ends by itself if the database is away.
          if (isOurs) await rows.endLease(db, id, ownName).catch(() => undefined);
        }
      } finally {
        turn.end();
      }
    },

    async lengthOf(id) {
      const blob = await rows.findBlob(db, id);
      if (blob === null || blob.finishedAt === null) throw noSuchBlob();
      return blob.length;
    },

    async read(userId, id, range) {
      const stream = await reads.open(userId, () => store.read(id, range));
      if (stream === null) throw (await store.isTheirs()) ? noSuchBlob() : away();
      metrics.transferred('sent', range.end - range.start + 1);
      return stream;
    },

    async delete(userId, id) {
      const blob = await rows.findBlob(db, id);
      if (blob === null || blob.userId !== userId) throw noSuchBlob();
      const turn = await writers.take(id, noSuchBlob);
      try {
        const [taken] = await rows.takeOutBlobs(db, userId, [id]);
        if (taken === undefined) throw noSuchBlob();
        await blobs.deleteFiles([id]);
        return taken.unsent;
      } finally {
        turn.end();
      }
    },

    async deleteFiles(ids) {
      const deleted: string[] = [];
      try {
        // Files of these names in another folder are somebody else's, and gone there is not gone.
        if (!(await store.isTheirs())) return;
        for (const id of ids) {
          await store.delete(id).then(
            () => deleted.push(id),
            (error: unknown) => log.warn({ err: error }, 'a file could not be deleted'),
          );
        }
      } catch (error) {
        log.warn({ err: error }, 'files could not be deleted');
      }
      await rows.forgetBlobs(db, deleted);
    },

    async deleteLeft() {
      for (let last: string[] = []; !stop.signal.aborted; ) {
        const taken = await takeOutOfDeleted();
        const ids = await rows.deletedBlobs(db, bite);
        // None, or the same ones again, which can't be deleted at the moment.
        if (taken === 0 && ids.every((id) => last.includes(id))) return;
        await blobs.deleteFiles(ids);
        last = ids;
      }
    },

    deleteSoon() {
      deleting = deleting
        .then(() => blobs.deleteLeft())
        .catch((error: unknown) => log.warn({ err: error }, 'deleting the files of an account failed'));
    },

    async close() {
      stop.abort();
      await Promise.all([writers.stop(restarting), deleting]);
    },
  };
  return blobs;
}
