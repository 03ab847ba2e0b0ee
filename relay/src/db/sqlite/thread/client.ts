import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type {
  CallId,
  Opened,
  ThreadAnswer,
  ThreadCall,
  ThreadCallName,
  ThreadCalls,
  ThreadData,
  ThreadError,
} from './protocol.ts';

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The thread that has a SQLite database open, as the event loop sees it. */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #pending = new Map<CallId, Pending>();
  /** Calls of this turn of the event loop, which go together: waking the thread costs more than a call. */
  #outgoing: ThreadCall[] = [];
  #lastId: CallId = 0;
  #isClosed = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answers: readonly ThreadAnswer[]) => {
      for (const answer of answers) this.#take(answer);
    });
    // A defect. What was acknowledged is on disk, and nothing more can be: the process ends, as it would have if the
    // same had been thrown on its own thread.
    worker.on('error', (error) => {
      throw error;
    });
    worker.on('exit', () => {
      this.#isClosed = true;
      for (const { reject } of this.#pending.values()) reject(notOpen());
      this.#pending.clear();
    });
  }

  /**
   * @param entry a file of JavaScript that calls `runSqliteThread`
   * @param readsOnly true for a thread that answers `read` and `close` alone, on a file that is open elsewhere
   * @throws whatever SQLite says if the file can't be used
   */
  static async open(file: string, entry: URL, readsOnly = false): Promise<SqliteThread> {
    const workerData: ThreadData = { file, readsOnly };
    const worker = new Worker(entry, { workerData });
    const [first] = (await once(worker, 'message')) as [Opened];
    if (!first.opened) {
      await worker.terminate();
      throw toError(first.error);
    }
    return new SqliteThread(worker);
  }

  call<Name extends ThreadCallName>(
    name: Name,
    ...parameters: Parameters<ThreadCalls[Name]>
  ): ReturnType<ThreadCalls[Name]> {
    if (this.#isClosed) return Promise.reject(notOpen()) as ReturnType<ThreadCalls[Name]>;
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    if (this.#outgoing.push({ id, name, parameters }) === 1) queueMicrotask(() => this.#send());
    return answered as ReturnType<ThreadCalls[Name]>;
  }

  /** Closing it again is harmless. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.call('close');
    } finally {
      await this.#worker.terminate();
    }
  }

  #send(): void {
    const calls = this.#outgoing;
    this.#outgoing = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    this.#worker.postMessage(calls);
  }

  #take(answer: ThreadAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ('error' in answer) pending?.reject(toError(answer.error));
    else pending?.resolve(answer.value as never);
  }
}

const notOpen = () => new Error('The database is not open.');

function toError({ message, stack, code }: ThreadError): Error {
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return code === null ? error : Object.assign(error, { code });
}
