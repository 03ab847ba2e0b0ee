import type { CryptoApi } from '../../crypto/client.ts';
import type { PendingFile } from './pendingMessages.ts';
import type { PieceStore } from './pieceStore.ts';
import type { FileToSeal } from './sources.ts';

interface SealingOptions {
  readonly crypto: Pick<CryptoApi, 'beginFile' | 'forgetFile' | 'sealPiece'>;
  readonly pieces: PieceStore;
}

/** A step of sealing, which its caller may try again, or end. */
type Step = (task: () => Promise<void>) => Promise<void>;

/** Seals files into this browser's storage, each under a key of its own. */
export function createSealing({ crypto, pieces }: SealingOptions) {
  async function forget(fileId: string): Promise<void> {
    await pieces.remove(fileId);
    await crypto.forgetFile(fileId);
  }

  async function seal(
    file: FileToSeal,
    step: Step,
    onProgress: (share: number) => void,
  ): Promise<PendingFile> {
    const { facts, size } = file;
    const { fileId, pieces: count, sealedSize } = await crypto.beginFile(size);
    let sealedPiece = 0;
    try {
      for (let index = 0; index < count; index += 1) {
        let piece = new ArrayBuffer(0);
        await step(async () => {
          piece = await file.piece(index);
        });
        const sealed = await crypto.sealPiece(fileId, index, piece);
        sealedPiece ||= sealed.byteLength;
        await pieces.put(fileId, index, sealed);
        onProgress((index + 1) / count);
      }
    } catch (error) {
      await forget(fileId).catch(() => undefined);
      throw error;
    }
    return { fileId, blobId: null, size, sealedSize, sealedPiece, isUploaded: false, facts };
  }

  /** Seals all files of a message, or keeps nothing of any. @param onProgress is told of a share of all, up to 1 */
  async function sealAll(
    files: readonly FileToSeal[],
    step: Step,
    onProgress: (share: number) => void,
  ): Promise<PendingFile[]> {
    const sealed: PendingFile[] = [];
    try {
      for (const [at, file] of files.entries())
        sealed.push(await seal(file, step, (share) => onProgress((at + share) / files.length)));
      // The last piece was sealed, although its message may have been given up meanwhile.
      await step(async () => undefined);
    } catch (error) {
      for (const { fileId } of sealed) await forget(fileId).catch(() => undefined);
      throw error;
    }
    return sealed;
  }

  return { forget, sealAll };
}
