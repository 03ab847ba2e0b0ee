import { parentPort, workerData } from 'node:worker_threads';
import { errorCode } from '../../errorCode.ts';
import type { Answer, Call, Opened, ThreadCalls, ThreadData, ThreadError } from './protocol.ts';
import { serveSqlite } from './serve.ts';

// SQLite on a thread of its own: its statements, and its waits for the disk, hold up no socket.

const port = parentPort;
if (port === null) throw new Error('This is the database thread of the relay.');

const toThreadError = (error: unknown): ThreadError => ({
  message: error instanceof Error ? error.message : String(error),
  stack: error instanceof Error ? error.stack : undefined,
  code: errorCode(error),
});

function open(): ThreadCalls | null {
  const say = (opened: Opened) => port?.postMessage(opened);
  try {
    const calls = serveSqlite((workerData as ThreadData).file);
    say({ opened: true });
    return calls;
  } catch (error) {
    say({ opened: false, error: toThreadError(error) });
    return null;
  }
}

async function answer(calls: ThreadCalls, { id, name, parameters }: Call): Promise<Answer> {
  // Each name takes its own parameters, which the type of its caller has checked.
  const perform = calls[name] as (...given: readonly unknown[]) => Promise<unknown>;
  try {
    return { id, value: await perform(...parameters) };
  } catch (error) {
    return { id, error: toThreadError(error) };
  }
}

const calls = open();
/** Answers that are there together go together. */
let outgoing: Answer[] = [];

function give(answered: Answer): void {
  if (outgoing.push(answered) > 1) return;
  setImmediate(() => {
    const answers = outgoing;
    outgoing = [];
    port?.postMessage(answers);
  });
}

if (calls !== null) {
  port.on('message', (together: readonly Call[]) => {
    for (const call of together) void answer(calls, call).then(give);
  });
}
