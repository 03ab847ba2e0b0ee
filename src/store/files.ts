import type { AttachedFile, FileFacts } from '../crypto/client.ts';
import type { FailureCode } from '../lib/errorCode.ts';
import type { FileSink } from '../lib/fileSink.ts';
import type { ConversationKey, MessageView, Words } from './chats.ts';
import type { ShelfName } from './gallery.ts';
import { sessionAtom } from './sessionAtom.ts';

export type { AttachedFile, FileFacts, FileKind, FilePreview } from '../crypto/client.ts';

/** A file to send: what the browser reads, and what is told of it. */
export interface NewFile {
  readonly source: Blob;
  readonly facts: FileFacts;
}

/** A message whose files are on their way to the relay. */
export interface Upload {
  /** From 0 to 1, sealing included. */
  readonly progress: number;
  /** It goes on by itself once the relay can be reached. */
  readonly isWaiting: boolean;
  /** The person has stopped it, until they say that it goes on: after a reload too. */
  readonly isPaused: boolean;
  /** It goes on only if the person says so; null otherwise. */
  readonly failure: { readonly code: FailureCode; readonly text: string } | null;
}

/** By message id. */
export const uploadsAtom = sessionAtom<Readonly<Record<string, Upload>>>({});

/** A large file on its way to a place that the person has chosen. It is gone with the page. */
export interface FileDownload extends Pick<Upload, 'isPaused' | 'progress'> {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Nothing of it stays. */
  readonly cancel: () => void;
}

/** By {@link downloadKey}. */
export const downloadsAtom = sessionAtom<Readonly<Record<string, FileDownload>>>({});

export const downloadKey = ({ index, messageId }: FilePlace) => `${messageId}/${index}`;

/** A file of a message. */
export interface FilePlace {
  readonly conversationId: string;
  readonly messageId: string;
  /** The place among the message's files. */
  readonly index: number;
}

/** A sound or film that an element plays while its pieces come. */
export interface FileStream {
  /** For this page alone, until its end. */
  readonly url: string;
  /** A sentence on why a piece could not be had; null for none. */
  problem(): string | null;
  /** Nothing more is played of it. */
  end(): void;
}

/**
 * Everything a person can do with files, loaded on demand. Every promise rejects with an AppError whose message can be shown;
 * those of reading with the code `damaged-file` for bytes that are not those of the message, `not-found` for such as the relay
 * no longer has.
 */
export interface FileActions {
  /** The bytes that the relay takes of one file at most. */
  largestFile(): Promise<number>;
  /**
   * Resolves once the message is shown; `uploadsAtom` tells the rest.
   * @param inReplyTo message id of what it answers
   */
  send(key: ConversationKey, text: string, files: readonly NewFile[], inReplyTo?: string): Promise<void>;
  /**
   * Passes the files of a message on, under new keys and marked as forwarded: they are fetched, sealed and uploaded anew; as
   * `send`. Rejects with `not-found` where the relay no longer has one of them.
   * @param caption as it is to stand there
   */
  forward(key: ConversationKey, message: MessageView, caption: Words): Promise<void>;
  retryUpload(messageId: string): void;
  /** Stops a message whose files are on their way where it is, and lets the next one go. */
  pauseUpload(messageId: string): Promise<void>;
  resumeUpload(messageId: string): Promise<void>;
  /** Gives up a message whose files are on their way. */
  discardUpload(messageId: string): Promise<void>;
  /** The whole file, with its type among those that a browser runs nothing of. */
  read(place: FilePlace, file: AttachedFile): Promise<Blob>;
  /** Opens a sound or film for an element; null where no service worker answers for this page. */
  stream(place: FilePlace, file: AttachedFile): Promise<FileStream | null>;
  /** Writes the whole file, unless the person cancels: `downloadsAtom` tells of a large one. */
  save(place: FilePlace, file: FileSink): Promise<void>;
  /** Loads the next page of a shelf into `galleryAtom`, which has to be open. A page may bring nothing, and another follow. */
  loadGallery(key: ConversationKey, shelf: ShelfName): Promise<void>;
}
