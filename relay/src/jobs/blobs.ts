import type { FastifyBaseLogger } from 'fastify';
import type { BlobStore } from '../blobs/blobStore.ts';
import { type Blobs, uploadLifetime } from '../blobs/blobs.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/tables.ts';
import type { KeptKind, Metrics } from '../metrics/metrics.ts';
import * as rows from '../repositories/blobs.ts';
import { createBites, type Rest } from './bites.ts';
import { createHourlyJob, type HourlyJob } from './hourlyJob.ts';
import { createSteadyClock } from './steadyClock.ts';

const hour = 60 * 60 * 1000;
const day = 24 * hour;

/** Milliseconds for which a file without a row is left alone: its row may be about to come, or its deletion under way. */
export const strayAfter = hour;

const bite = { blobs: 100 };

export interface BlobJobDependencies {
  readonly db: Db;
  readonly store: BlobStore;
  readonly blobs: Pick<Blobs, 'deleteFiles' | 'deleteLeft'>;
  readonly settings: Pick<Config['blobs'], 'days'>;
  readonly clock: () => number;
  readonly metrics: Pick<Metrics, 'emptied' | 'filesStored'>;
  readonly log: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  readonly rest?: Rest;
  /** Milliseconds that have passed, whatever the clock was set to. */
  readonly elapsed?: () => number;
}

/**
 * Deletes files that are kept no longer and uploads that were not finished in time, in small bites beside traffic; and once a day,
 * beginning at its first run, files without rows and rows without files. Several relays may run it side by side: everything in it
 * can be repeated.
 */
export function createBlobJob(dependencies: BlobJobDependencies): HourlyJob {
  const { blobs, clock, db, log, metrics, settings, store } = dependencies;
  const stop = new AbortController();
  const bites = createBites(stop.signal, dependencies.rest);
  const steadyNow = createSteadyClock(clock, dependencies.elapsed);
  let comparedAt: number | null = null;

  /** Deletes blobs, rows first. @returns how many there were */
  async function takeOut(found: readonly rows.OwnedBlob[], kind: KeptKind): Promise<number> {
    const byPerson = new Map<string, string[]>();
    for (const { id, userId } of found) byPerson.set(userId, [...(byPerson.get(userId) ?? []), id]);
    for (const [userId, ids] of byPerson) {
      const deleted = await rows.takeOutBlobs(db, userId, ids);
      await blobs.deleteFiles(deleted.map(({ id }) => id));
      metrics.emptied(kind, deleted.length);
    }
    return found.length;
  }

  const old = (kind: KeptKind, find: () => Promise<rows.OwnedBlob[]>) =>
    bites.all(async () => ((await takeOut(await find(), kind)) === bite.blobs ? 'more' : 'last'));

  /** Asked before anything is deleted: a disk may be unmounted meanwhile. @throws Error */
  async function requireFolder(): Promise<void> {
    if (!(await store.isTheirs())) throw new Error('the folder of the files is another one by now');
  }

  /** Rows whose files are not there, as after a backup of the database alone. */
  async function dropEmptyRows(): Promise<number> {
    let after = '';
    let dropped = 0;
    await bites.all(async () => {
      const found = await rows.wholeBlobsAfter(db, after, bite.blobs);
      const sizes = await Promise.all(found.map(({ id }) => store.size(id)));
      await requireFolder();
      dropped += await takeOut(
        found.filter(({ length }, index) => sizes[index] !== length),
        'stray',
      );
      after = found.at(-1)?.id ?? after;
      return found.length === bite.blobs ? 'more' : 'last';
    });
    return dropped;
  }

  /** Files whose rows are not there, as after a backup of before they were deleted. */
  async function deleteStrays(now: number): Promise<number> {
    let deleted = 0;
    for (const name of await store.parts()) {
      if (stop.signal.aborted) break;
      await bites.one(async () => {
        const found = (await store.part(name)).filter(({ writtenAt }) => writtenAt <= now - strayAfter);
        for (let from = 0; from < found.length; from += bite.blobs) {
          const ids = found.slice(from, from + bite.blobs).map(({ id }) => id);
          const known = await rows.knownBlobs(db, ids);
          const strays = ids.filter((id) => !known.has(id));
          await requireFolder();
          await blobs.deleteFiles(strays);
          deleted += strays.length;
        }
      });
    }
    metrics.emptied('stray', deleted);
    return deleted;
  }

  async function compare(now: number): Promise<void> {
    const emptyRows = await dropEmptyRows();
    const strays = await deleteStrays(now);
    if (emptyRows + strays > 0) log.warn({ emptyRows, strays }, 'files and their rows did not match');
  }

  async function sweep(): Promise<void> {
    const now = clock();
    const aged = steadyNow();
    await blobs.deleteLeft();
    await old('file', () => rows.oldBlobs(db, aged - settings.days * day, bite.blobs));
    await old('upload', () => rows.oldUploads(db, aged - uploadLifetime, bite.blobs));
    metrics.filesStored(await rows.allBlobBytes(db));
    if (comparedAt !== null && now - comparedAt < day) return;
    // A file that another folder lacks is not gone.
    if (!(await store.isTheirs())) {
      if (!(await rows.hasBlobs(db))) return;
      log.error('BLOB_DIR is not the folder of the files that people have sent: mount or restore that one');
      return;
    }
    await compare(now);
    comparedAt = now;
  }

  return createHourlyJob({
    task: sweep,
    stop: () => stop.abort(),
    failure: 'deleting files that are kept no longer failed',
    log,
  });
}
