import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Db } from '../db/tables.ts';
import { diskSpace } from '../diskSpace.ts';
import { errorCode } from '../errorCode.ts';
import { ApiError, hasCode, StartupError } from '../errors.ts';
import { blobFolder, hasBlobs, knownBlobs } from '../repositories/blobs.ts';
import type { BlobStore, BlobWriter, StoredBlob } from './blobStore.ts';

/**
 * Made with the first blob, with the name that the database has for its folder. A folder without it is another one, such as that of a disk
 * which is not mounted; one with another name is another database's.
 */
const markName = 'sinetti-blobs';
const folderName = /^[\w-]{2}$/;
const restOfId = /^[\w-]{20}$/;

/** Codes of a file system that is away, or refuses. */
const unavailableCodes: ReadonlySet<string | null> = new Set(
  [
    ['EIO', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR'],
    ['ESTALE', 'ENOTCONN', 'EHOSTDOWN', 'ETIMEDOUT', 'EMFILE', 'ENFILE'],
  ].flat(),
);

/** Files of a folder that is not named yet, by which it is found to be this database's. */
const triedFiles = 1000;

/**
 * Blobs as files in a folder, which several relays on one database may share: `ab/cdef…` for the id `abcdef…`.
 * @param db the database whose blobs they are
 */
export async function createBlobFiles(dir: string, db: Db): Promise<BlobStore> {
  const name = await blobFolder(db);
  const folderOf = (id: string) => path.join(dir, id.slice(0, 2));
  const fileOf = (id: string) => path.join(folderOf(id), id.slice(2));
  const mark = path.join(dir, markName);

  /** The name in the mark: empty where an earlier version has made it, or the operator. Null without a mark. */
  const readMark = () =>
    told(() =>
      readFile(mark, 'utf8').then(
        (text) => text.trim(),
        (error: unknown) => {
          if (hasCode(error, 'ENOENT')) return null;
          throw error;
        },
      ),
    );

  /** Returns whether this database knows most of the files that are there. */
  async function knowsMost(): Promise<boolean> {
    const ids: string[] = [];
    for (const part of await files.parts()) {
      if (ids.length >= triedFiles) break;
      ids.push(...(await files.part(part)).map(({ id }) => id));
    }
    const tried = ids.slice(0, triedFiles);
    return (await knownBlobs(db, tried)).size * 2 >= tried.length;
  }

  const files: BlobStore = {
    async open() {
      const found = await readMark().catch((error: unknown) => {
        throw new StartupError(`BLOB_DIR ${dir} can't be read: ${String(errorCode(error))}.`);
      });
      if (found === name) return;
      if (found === null) {
        if (!(await hasBlobs(db))) return;
        throw new StartupError(
          `BLOB_DIR ${dir} is not the folder of the files that people have sent: mount or restore that one. If they are lost for good, make an empty file ${markName} in it.`,
        );
      }
      if (found !== '') {
        throw new StartupError(
          `BLOB_DIR ${dir} has the files of another database: set it to a folder of this one's own.`,
        );
      }
      if (!(await knowsMost())) {
        throw new StartupError(
          `BLOB_DIR ${dir} has files that this database doesn't know: set it to a folder of its own. If it is that one, write ${name} into its file ${markName}.`,
        );
      }
      await writeFile(mark, `${name}\n`, { flush: true });
    },

    isTheirs: async () => (await readMark()) === name,

    async claim() {
      if (await hasBlobs(db)) return false;
      await told(async () => {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        try {
          await writeFile(mark, `${name}\n`, { flag: 'wx', mode: 0o600, flush: true });
        } catch (error) {
          // Another relay is as far.
          if (!hasCode(error, 'EEXIST')) throw error;
        }
        await syncFolder(dir);
      });
      return files.isTheirs();
    },

    free: () => told(async () => (await diskSpace(dir)).free),

    async size(id) {
      return (await sizeOf(fileOf(id))) ?? 0;
    },

    append: (id, offset) =>
      told(async () => {
        const size = await sizeOf(fileOf(id));
        if (size === null) await mkdir(folderOf(id), { recursive: true, mode: 0o700 });
        const file = await open(fileOf(id), constants.O_RDWR | constants.O_CREAT, 0o600);
        // A new name outlives a loss of power once its folder, and that folder's name, are on the disk.
        return writerAt(file, offset, size !== null ? [] : [folderOf(id), dir]);
      }),

    read: (id, { start, end }) =>
      told(async () => {
        const file = await open(fileOf(id), 'r').catch((error: unknown) => {
          if (hasCode(error, 'ENOENT')) return null;
          throw error;
        });
        if (file === null) return null;
        const { size } = await file.stat();
        if (size > end) return createReadStream('', { fd: file, start, end });
        await file.close();
        return null;
      }),

    delete: (id) => told(() => rm(fileOf(id), { force: true })),

    async parts() {
      const entries = await told(() => readdir(dir, { withFileTypes: true }));
      return entries
        .filter((entry) => entry.isDirectory() && folderName.test(entry.name))
        .map(({ name }) => name);
    },

    async part(name) {
      const files = await told(() => readdir(path.join(dir, name)));
      const found: StoredBlob[] = [];
      for (const file of files.filter((rest) => restOfId.test(rest))) {
        const writtenAt = await stat(path.join(dir, name, file)).then(
          ({ mtimeMs }) => mtimeMs,
          () => null,
        );
        if (writtenAt !== null) found.push({ id: `${name}${file}`, writtenAt });
      }
      return found;
    },
  };
  return files;
}

function writerAt(file: FileHandle, offset: number, newFolders: readonly string[]): BlobWriter {
  let position = offset;
  let unsynced = newFolders;
  return {
    write: (chunk) =>
      told(async () => {
        for (let written = 0; written < chunk.length; ) {
          const { bytesWritten } = await file.write(chunk, written, chunk.length - written, position);
          written += bytesWritten;
          position += bytesWritten;
        }
      }),
    sync: () =>
      told(async () => {
        await file.datasync();
        for (const folder of unsynced) await syncFolder(folder);
        unsynced = [];
      }),
    close: () => file.close(),
  };
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sizeOf(file: string): Promise<number | null> {
  return told(() =>
    stat(file).then(
      ({ size }) => size,
      (error: unknown) => {
        if (hasCode(error, 'ENOENT')) return null;
        throw error;
      },
    ),
  );
}

/** Does something with files, and says of a failure what a caller may know. */
async function told<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    // A full disk is known by its code wherever it shows.
    if (!unavailableCodes.has(errorCode(error))) throw error;
    throw new ApiError('unavailable', "The server's files can't be used at the moment.");
  }
}
