import type { CryptoApi, FileFacts } from '../../crypto/client.ts';
import { errorCode } from '../../lib/errorCode.ts';
import type { AttachedFile, FilePlace, NewFile } from '../../store/files.ts';
import { openInOrder, type ReadableFile, type ReadingOptions } from './reading.ts';

/** Bytes of a file that the worker is given at once, and gives. */
export const pieceLength = 512 * 1024;

/** A file that is to be sealed, and what is told of it. */
export interface FileToSeal {
  readonly facts: FileFacts;
  readonly size: number;
  /** Gives a piece. All are asked for, in order, those of the padding too, which are empty. */
  piece(index: number): Promise<ArrayBuffer>;
}

/** A file that the browser reads from its disk, or has made. */
export function chosenFile({ facts, source }: NewFile): FileToSeal {
  return {
    facts,
    size: source.size,
    piece: (index) => source.slice(index * pieceLength, (index + 1) * pieceLength).arrayBuffer(),
  };
}

/** Returns whether a message with files is on this device, and was not deleted. */
export async function isStillThere(
  crypto: Pick<CryptoApi, 'openFile'>,
  { conversationId, messageId }: Omit<FilePlace, 'index'>,
): Promise<boolean> {
  try {
    await crypto.openFile(conversationId, messageId, 0);
    return true;
  } catch (error) {
    if (errorCode(error) === 'unknown-message') return false;
    throw error;
  }
}

/** The files of a message, as the relay has them sealed under another key: of each a piece is in memory at a time. */
export function filesOfMessage(
  reading: ReadingOptions,
  message: Omit<FilePlace, 'index'>,
  files: readonly AttachedFile[],
): FileToSeal[] {
  return files.map(({ size, ...facts }, index) => {
    let opened: ReadableFile | null = null;
    return {
      facts,
      size,
      async piece(at) {
        opened ??= await openInOrder(reading, { ...message, index });
        // The last one is refused where all of them together are not the message's file.
        return opened.piece(at);
      },
    };
  });
}
