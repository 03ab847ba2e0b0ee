import type { Statement } from '../../prepared.ts';

/** A query as text, with what its driver can take: see `bindable`. */
export interface Query {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface ThreadResult {
  /** Blobs are ArrayBuffers. */
  readonly rows: readonly unknown[];
  readonly numAffectedRows?: bigint;
  readonly insertId?: bigint;
}

/**
 * Work of several statements, which runs in one transaction beside SQLite. It is given a function for each statement, by
 * name, that takes parameters and returns rows. Its input and its result cross between the threads by structured cloning.
 */
export type ThreadProgram = (queries: never, ...input: never[]) => Promise<unknown>;

/** The calls of SQLite's thread. */
export interface ThreadCalls {
  /** Waits for a turn of the writing connection, which lasts until `commit` or `rollback`. */
  begin: () => Promise<void>;
  /** Resolves once the disk has it. */
  commit: () => Promise<void>;
  rollback: () => Promise<void>;
  /** A statement of the transaction whose turn it is. */
  write: (query: Query) => Promise<ThreadResult>;
  /** A statement that is a transaction of its own. */
  writeAlone: (query: Query) => Promise<ThreadResult>;
  /**
   * A statement that only reads, and sees only rows that are on disk. A thread that reads only may see the rows of a
   * commit a moment before.
   */
  read: (query: Query) => Promise<ThreadResult>;
  /** Gives the thread's program its statements. */
  define: (statements: Readonly<Record<string, Statement>>) => Promise<void>;
  /** Runs the thread's program in one transaction. Resolves once the disk has it. */
  run: (...input: readonly unknown[]) => Promise<unknown>;
  /** Cuts free pages off the end of the file, as many as this at most. Resolves with how many are left. */
  giveBack: (pages: number) => Promise<number>;
  /** Finishes what runs, and leaves one whole file. */
  close: () => Promise<void>;
}

/** The calls of a thread that reads only. */
export type ReadingCalls = Pick<ThreadCalls, 'read' | 'close'>;

export type ThreadCallName = keyof ThreadCalls;

/** The id by which an answer finds its call. */
export type CallId = number;

export interface ThreadCall<Name extends ThreadCallName = ThreadCallName> {
  readonly id: CallId;
  readonly name: Name;
  readonly parameters: Parameters<ThreadCalls[Name]>;
}

export type ThreadAnswer =
  | { readonly id: CallId; readonly value: unknown }
  | { readonly id: CallId; readonly error: ThreadError };

/** An error as structured cloning keeps it, which drops the code. */
export interface ThreadError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | null;
}

/** The thread's first message, before any answer. */
export type Opened = { readonly opened: true } | { readonly opened: false; readonly error: ThreadError };

export interface ThreadData {
  readonly file: string;
  /** True for a thread that answers `read` and `close` alone. */
  readonly readsOnly: boolean;
}
