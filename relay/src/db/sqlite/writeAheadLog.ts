import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Durability } from './groupCommit.ts';
import type { SqliteFile } from './sqliteFile.ts';

/** Bytes of log beyond which it is folded into the database: about a thousand messages' pages, read again after a crash. */
export const logLimit = 16 * 1024 * 1024;

/**
 * SQLite's write-ahead log, made durable from outside. With synchronous=FULL SQLite waits for the disk inside `commit`,
 * and with it whoever reads or begins the next group, for milliseconds on a good day and a tenth of a second on a bad one.
 * With NORMAL it appends the same frames and leaves out that wait; the wait happens here, on a thread of Node's own. A power cut before
 * its end takes away the last group, of which nobody has heard, and nothing else: each frame's checksum includes those
 * of all before it, so recovery stops at the first that is missing.
 */
export class WriteAheadLog implements Durability {
  readonly #file: string;
  readonly #reader: SqliteFile;
  readonly #syncFile: (descriptor: number) => Promise<void>;
  #descriptor: number | null = null;

  /**
   * @param database the database's file name
   * @param syncFile resolves when the disk has the file's content
   */
  constructor(database: string, reader: SqliteFile, syncFile = promisify(fdatasync)) {
    this.#file = `${database}-wal`;
    this.#reader = reader;
    this.#syncFile = syncFile;
  }

  holdReaders(): void {
    this.#reader.exec('begin');
    // A transaction sees what is there at its first read, not at its beginning.
    this.#reader.run('select 1 from sqlite_schema limit 1', []);
  }

  async sync(): Promise<void> {
    // SQLite never replaces the file while it has the database open.
    this.#descriptor ??= openSync(this.#file, 'r+');
    try {
      await this.#syncFile(this.#descriptor);
    } catch (error) {
      // SQLite's name for it, by which it counts as a storage that is out.
      throw Object.assign(new Error('The disk failed to sync.', { cause: error }), {
        code: 'SQLITE_IOERR_FSYNC',
      });
    }
  }

  releaseReaders(): void {
    if (this.#reader.inTransaction) this.#reader.exec('commit');
  }

  get isLong(): boolean {
    return this.#descriptor !== null && fstatSync(this.#descriptor).size > logLimit;
  }

  foldIn(): void {
    try {
      this.#reader.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // A disk that is full or failing: the log is whole, grows on, and is tried again after the next group.
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
