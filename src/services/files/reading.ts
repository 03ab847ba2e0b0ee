import type { CryptoApi } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { BlobError, type Blobs } from '../../net/blobs.ts';
import type { FilePlace } from '../../store/files.ts';
import { failureCode, toAppError } from '../core/failures.ts';

export interface ReadingOptions {
  readonly crypto: Pick<CryptoApi, 'openFile' | 'openPiece'>;
  readonly blobs: Pick<Blobs, 'read'>;
}

/** A file of a message whose pieces can be had in any order. */
export interface ReadableFile {
  /** Pieces that hold something of the file. */
  readonly pieces: number;
  /** With those of the padding: who reads all of them in order is told of another file than the message's. */
  readonly sealedPieces: number;
  piece(index: number): Promise<ArrayBuffer>;
  /** Asks for as little of it as there can be, to know that it is there. */
  probe(): Promise<void>;
}

/** Opens a file of a message. Failures are those of {@link FileActions}. */
export async function openFile(
  { blobs, crypto }: ReadingOptions,
  { conversationId, index, messageId }: FilePlace,
): Promise<ReadableFile> {
  const { blobId, handle, pieces, sealedPiece, sealedPieces, sealedSize } = await sayWhy(() =>
    crypto.openFile(conversationId, messageId, index),
  );
  return {
    pieces,
    sealedPieces,
    piece: (at) =>
      sayWhy(async () => {
        const from = at * sealedPiece;
        const to = Math.min(from + sealedPiece, sealedSize);
        return crypto.openPiece(handle, at, await blobs.read(blobId, from, to));
      }),
    probe: () => sayWhy(async () => void (await blobs.read(blobId, 0, 1))),
  };
}

/**
 * Opens a file whose pieces are asked for in order. The worker lets go of what was opened long ago: the file is then read anew up to there,
 * so that all of it is still compared.
 */
export async function openInOrder(options: ReadingOptions, place: FilePlace): Promise<ReadableFile> {
  let file = await openFile(options, place);
  return {
    pieces: file.pieces,
    sealedPieces: file.sealedPieces,
    async piece(index) {
      try {
        return await file.piece(index);
      } catch (error) {
        if (errorCode((error as Error).cause) !== 'unknown-file') throw error;
        const again = await openFile(options, place);
        for (let before = 0; before < index; before += 1) await again.piece(before);
        file = again;
        return again.piece(index);
      }
    },
    probe: () => file.probe(),
  };
}

/** The pieces of a whole file, in order; the last one only once all of it is known to be the message's. */
export async function* wholeFile(file: ReadableFile): AsyncGenerator<ArrayBuffer> {
  const last = file.pieces - 1;
  for (let index = 0; index < last; index += 1) yield await file.piece(index);
  const held = await file.piece(last);
  for (let index = file.pieces; index < file.sealedPieces; index += 1) await file.piece(index);
  yield held;
}

const damaged: ReadonlySet<string> = new Set([
  'decrypt-failed',
  'malformed',
  'range-not-satisfiable',
  'unknown-file',
]);

async function sayWhy<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const code = error instanceof BlobError ? error.code : failureCode(error);
    if (damaged.has(code)) throw new AppError('damaged-file', t('files.damaged'), { cause: error });
    if (errorCode(error) === 'not-found') throw new AppError('not-found', t('files.gone'), { cause: error });
    throw toAppError(error, t('files.readFailed'));
  }
}
