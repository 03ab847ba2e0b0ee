import type { WireBytes } from '../codec/base64url.ts';
import type { FileFacts, FileKind } from './attachedFile.ts';
import type { MessageView } from './conversationsApi.ts';
import type { QueuedMessage } from './outboxApi.ts';

/** A file that was sealed and uploaded, for a message. */
export interface UploadedFile extends FileFacts {
  /** As {@link FilesApi.beginFile} gave it. */
  readonly fileId: string;
  /** The relay's id of the sealed bytes. */
  readonly blobId: WireBytes;
}

/** Messages with files, as a gallery pages through them. */
export interface FilesPage {
  /** The newest first; on the first page after those that wait in the outbox. A page may have none, and others may follow. */
  readonly messages: readonly MessageView[];
  /** The position before which the next page begins; null at the beginning of what this device has. */
  readonly before: number | null;
}

/**
 * The part of the worker's API for files beside messages. Their bytes cross as ArrayBuffers, in pieces of 512 KiB of the file, the
 * last of which may be shorter, and a piece that is given is its giver's no more; the keys stay here.
 */
export interface FilesApi {
  /**
   * Begins to seal a file of that many bytes under a key of its own. What was begun is gone with this worker; a file that was
   * sealed whole stays until a message names it, or it is forgotten. Errors: `usage` for a size beyond 1 GiB, or too many at once.
   */
  beginFile(size: number): Promise<{
    readonly fileId: string;
    /** Pieces to seal: more than the file has where it is padded beyond one. */
    readonly pieces: number;
    /** Bytes of all sealed pieces. */
    readonly sealedSize: number;
  }>;
  /**
   * Seals the next piece, each once and in order. A piece behind the end of the file is empty. Errors: `usage` for any other
   * piece, `unknown-file`.
   */
  sealPiece(fileId: string, index: number, piece: ArrayBuffer): Promise<ArrayBuffer>;
  /** Forgets a file that no message is to name. */
  forgetFile(fileId: string): Promise<void>;
  /**
   * Queues a message with files, as {@link OutboxApi.queueMessage} does a text. Errors: as there, `unknown-file`, and `usage`
   * where names, descriptions and previews together are too long.
   */
  queueFiles(input: {
    conversationId: string;
    messageId: string;
    /** The caption; may be empty. */
    text: string;
    /** Message id of what it answers. */
    inReplyTo?: string;
    /** As with {@link OutboxApi.queueMessage}. */
    isForwarded?: boolean;
    isMarkdown?: boolean;
    sentAt: string;
    /** 1 to 20. */
    files: readonly UploadedFile[];
  }): Promise<QueuedMessage>;
  /**
   * Opens a file of a message that is here or in the outbox. Errors: `unknown-message`, `unknown-file`.
   * @param index of the message's files
   * @returns a handle, good until many others were opened or the session ends
   */
  openFile(
    conversationId: string,
    messageId: string,
    index: number,
  ): Promise<{
    readonly handle: string;
    readonly blobId: WireBytes;
    /** Bytes of the sealed file, as the relay has to have it; of a sealed piece, but the last. */
    readonly sealedSize: number;
    readonly sealedPiece: number;
    /** Pieces that hold something of the file, and those that there are with its padding. */
    readonly pieces: number;
    readonly sealedPieces: number;
  }>;
  /**
   * Opens a piece of a file, in any order. Who opens all of them in order, those of the padding too, is told of another file than
   * the message's by `decrypt-failed` at the last one, however it was sealed. Errors: `unknown-file` for a handle that isn't good
   * any more, `decrypt-failed`, `malformed`, `usage`.
   */
  openPiece(handle: string, index: number, sealed: ArrayBuffer): Promise<ArrayBuffer>;
  /**
   * Looks for messages of a conversation that have files of these kinds, as they are shown by now, but without the reactions that
   * the log has. It looks through a thousand entries of the log at most, however few it finds, and opens beside these the edits of
   * what it found and what that answers: call it again with the page's `before` for more.
   * @param page.before null, or left out, for the newest
   * @param page.limit messages to stop at
   */
  messagesWithFiles(
    conversationId: string,
    page: { readonly kinds: readonly FileKind[]; readonly before?: number | null; readonly limit: number },
  ): Promise<FilesPage>;
}
