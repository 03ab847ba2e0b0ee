import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { errorCode } from '../../../errorCode.ts';
import type {
  Opened,
  ThreadAnswer,
  ThreadCall,
  ThreadCalls,
  ThreadData,
  ThreadError,
  ThreadProgram,
} from './protocol.ts';
import { serveReads, serveSqlite } from './serve.ts';

/**
 * Serves SQLite on this thread until it is terminated, so that its statements, and its waits for the disk, hold up no
 * socket.
 * @param program answers `run`
 */
export function runSqliteThread(program: ThreadProgram): void {
  if (parentPort === null) throw new Error("This is the program of the relay's database thread.");
  const port = parentPort;
  const calls = open(port, program);
  if (calls === null) return;

  /** Answers of one turn of the event loop are posted together. */
  let outgoing: ThreadAnswer[] = [];
  const give = (answered: ThreadAnswer) => {
    if (outgoing.push(answered) > 1) return;
    setImmediate(() => {
      const answers = outgoing;
      outgoing = [];
      port.postMessage(answers);
    });
  };
  port.on('message', (together: readonly ThreadCall[]) => {
    for (const call of together) void answer(calls, call).then(give);
  });
}

/** Opens the database and tells the opener of the thread whether that succeeded; null if it did not. */
function open(port: MessagePort, program: ThreadProgram): Partial<ThreadCalls> | null {
  const say = (opened: Opened) => port.postMessage(opened);
  const { file, readsOnly } = workerData as ThreadData;
  try {
    const calls = readsOnly ? serveReads(file) : serveSqlite(file, program);
    say({ opened: true });
    return calls;
  } catch (error) {
    say({ opened: false, error: toThreadError(error) });
    return null;
  }
}

async function answer(
  calls: Partial<ThreadCalls>,
  { id, name, parameters }: ThreadCall,
): Promise<ThreadAnswer> {
  // Each name takes its own parameters, which the type of its caller has checked.
  const perform = calls[name] as ((...given: readonly unknown[]) => Promise<unknown>) | undefined;
  try {
    if (perform === undefined) throw new Error(`This thread reads only, and has no ${name}.`);
    return { id, value: await perform(...parameters) };
  } catch (error) {
    return { id, error: toThreadError(error) };
  }
}

const toThreadError = (error: unknown): ThreadError => ({
  message: error instanceof Error ? error.message : String(error),
  stack: error instanceof Error ? error.stack : undefined,
  code: errorCode(error),
});
