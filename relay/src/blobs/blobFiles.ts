import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../errorCode.ts';
import { ApiError, hasCode } from '../errors.ts';
import type { BlobStore, BlobWriter, StoredBlob } from './blobStore.ts';

/** Made with the first blob. Without it a folder is another one, such as that of a disk which is not mounted. */
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

/**
 * Blobs as files in a folder, which several relays may share: `ab/cdef…` for the id `abcdef…`.
 * @param isNew resolves true while there is no blob, so that the folder may be made
 */
export function createBlobFiles(dir: string, isNew: () => Promise<boolean>): BlobStore {
  const folderOf = (id: string) => path.join(dir, id.slice(0, 2));
  const fileOf = (id: string) => path.join(folderOf(id), id.slice(2));
  const mark = path.join(dir, markName);

  return {
    isTheirs: () => exists(mark),

    async claim() {
      if (!(await isNew())) return false;
      await told(async () => {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await (await open(mark, 'a', 0o600)).close();
        await syncFolder(dir);
      });
      return true;
    },

    free: () =>
      told(async () => {
        const { bavail, bsize } = await statfs(dir);
        return bavail * bsize;
      }),

    async size(id) {
      return (await sizeOf(fileOf(id))) ?? 0;
    },

    append: (id, offset) =>
      told(async () => {
        const size = await sizeOf(fileOf(id));
        if (size === null) await mkdir(folderOf(id), { recursive: true, mode: 0o700 });
        const file = await open(fileOf(id), constants.O_RDWR | constants.O_CREAT, 0o600);
        try {
          if (size !== null && size > offset) await file.truncate(offset);
        } catch (error) {
          await file.close();
          throw error;
        }
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

const exists = async (file: string) => (await sizeOf(file)) !== null;

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
