import type { Readable } from 'node:stream';

/** A blob that is being written. */
export interface BlobWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves once the disk has all that was written. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A stored blob as the store knows it. */
export interface StoredBlob {
  readonly id: string;
  /** Milliseconds since the epoch, when it was written last. */
  readonly writtenAt: number;
}

/** Keeps the bytes of blobs, by their ids. Failures are ApiError storage-full or unavailable. */
export interface BlobStore {
  /** @throws StartupError if the place is another one than that of this database's blobs, and can't become it */
  open(): Promise<void>;
  /** Returns whether this is the place where the blobs of this database are: another one has nothing to say about them. */
  isTheirs(): Promise<boolean>;
  /** Makes it that place, if there is no blob yet. @returns false if there is one, somewhere else, or the place is another database's */
  claim(): Promise<boolean>;
  /** Bytes that can be stored. */
  free(): Promise<number>;
  /** Bytes of a blob that are there; 0 where there is none. */
  size(id: string): Promise<number>;
  /**
   * Opens a blob at an offset that it has reached, and makes it where there is none. What is beyond stays until it is written over: another
   * relay may have noted it meanwhile.
   */
  append(id: string, offset: number): Promise<BlobWriter>;
  /**
   * Opens a range, both ends included.
   * @returns null if there are no such bytes
   */
  read(id: string, range: { readonly start: number; readonly end: number }): Promise<Readable | null>;
  /** Deletes a blob, if it is there. */
  delete(id: string): Promise<void>;
  /** The names of the parts that {@link BlobStore.part} answers. */
  parts(): Promise<string[]>;
  /** The blobs of one part. */
  part(name: string): Promise<StoredBlob[]>;
}
