import type { NameIndex } from './nameIndex.ts';
import type { Statement } from './prepared.ts';
import type { Db } from './tables.ts';

/** A program that runs on SQLite's thread, each run in one transaction. */
export interface RemoteProgram {
  /** Gives the program its statements by name, in the place of those it had. */
  define(statements: Readonly<Record<string, Statement>>): Promise<void>;
  /**
   * Resolves with the program's result once the disk has its transaction.
   * @param input values that structured cloning keeps
   * @throws whatever the program threw, or kept the transaction from the disk; then nothing of it is stored
   */
  run(...input: readonly unknown[]): Promise<unknown>;
}

export interface OpenDatabase {
  readonly db: Db;
  /** Null on PostgreSQL, which is asked from the event loop alone. */
  readonly program: RemoteProgram | null;
  readonly names: NameIndex;
  /**
   * Gives pages that nothing is on any more back to the disk, the last ones first. Null on PostgreSQL, which does that
   * by itself.
   * @param pages how many at most
   * @returns how many are left
   */
  readonly giveBack: ((pages: number) => Promise<number>) | null;
  /** The bytes of it, with indexes, on disk. */
  size(): Promise<number>;
  /** Finishes what runs, and lets go of the database. */
  close(): Promise<void>;
}
