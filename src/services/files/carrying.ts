import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { BlobError, type Blobs, isGoneBlob } from '../../net/blobs.ts';
import { ApiError } from '../../net/errors.ts';
import type { PendingFile, PendingMessages } from './pendingMessages.ts';
import type { PieceStore } from './pieceStore.ts';

/** One file on its way to the relay. */
export interface Carrying {
  readonly signal: AbortSignal;
  /** Called before each piece; what it throws stops the file there. */
  readonly mayGoOn: () => Promise<void>;
  readonly keep: (changed: Partial<PendingFile>) => Promise<void>;
  /** Bytes that the relay has. */
  readonly onProgress: (bytes: number) => void;
}

/** Carries sealed files to the relay, each from where it was left. */
export function createCarrier({
  blobs,
  pending,
  pieces,
}: {
  readonly blobs: Blobs;
  readonly pending: PendingMessages;
  readonly pieces: PieceStore;
}) {
  /**
   * Ends the uploads of this device that no message waits for: their ids were lost with an answer, and they would take the room of others
   * for a day. Under the lock, since another tab may have begun one that it has not kept yet.
   */
  async function endLost(): Promise<void> {
    const known = new Set((await pending.all()).flatMap(({ files }) => files.map(({ blobId }) => blobId)));
    const { unfinished } = await blobs.storage();
    for (const { id } of unfinished) if (!known.has(id)) await blobs.remove(id);
  }

  /** Begins an upload, if need be in the place of lost ones. @returns its id */
  async function create(length: number): Promise<string> {
    try {
      return await blobs.create(length);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'quota') throw error;
      await endLost();
      return blobs.create(length);
    }
  }

  /** Appends what the relay doesn't have of a file yet. */
  async function append(
    file: PendingFile,
    blobId: string,
    from: number,
    { mayGoOn, onProgress, signal }: Carrying,
  ): Promise<void> {
    let offset = from;
    while (offset < file.sealedSize) {
      const index = Math.floor(offset / file.sealedPiece);
      const [piece] = await Promise.all([pieces.get(file.fileId, index), mayGoOn()]);
      // The browser has evicted it.
      if (piece === null) throw new AppError('storage-erased', t('files.uploadLost'));
      const left = new Uint8Array(piece, offset - index * file.sealedPiece);
      const next = await blobs.append(blobId, offset, left, signal);
      if (next <= offset || next > file.sealedSize) throw new BlobError('offset-conflict');
      offset = next;
      onProgress(offset);
    }
  }

  return {
    endLost,

    async carry(file: PendingFile, carrying: Carrying): Promise<void> {
      let { blobId } = file;
      let from = 0;
      if (blobId !== null) {
        try {
          from = await blobs.offset(blobId);
        } catch (error) {
          // It was not finished in time: another one begins.
          if (!isGoneBlob(error)) throw error;
          blobId = null;
        }
      }
      if (blobId === null) {
        blobId = await create(file.sealedSize);
        await carrying.keep({ blobId });
      }
      await append(file, blobId, from, carrying);
      await carrying.keep({ isUploaded: true });
    },
  };
}
