/**
 * The frame at the origin of the keys, in which the worker runs and its IndexedDB is: no script of the page can read
 * either. It hands the page a port to the worker, and locks by itself, however busy the worker is.
 */
import { type FrameNotice, interfaceVersion, isOfType, type Ready } from '../api/frameMessages.ts';
import { isKeysOriginOf } from '../api/origins.ts';
import { endSession } from '../session/endSession.ts';
import { keepFiles } from './keepFiles.ts';
import { startWorker } from './startWorker.ts';

const otherTabs = new BroadcastChannel('sinetti-lock');
let worker: Worker | null = null;
/** Each lock, after the one before: a worker that starts meanwhile must not find the session. */
let locking: Promise<unknown> = Promise.resolve();

function endWorker(): void {
  worker?.terminate();
  worker = null;
}

/** Serves the page on the other side of a port. */
function serve(page: MessagePort): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  const tell = (notice: FrameNotice) => page.postMessage(notice);

  function workerOf(): Worker {
    if (worker !== null) return worker;
    worker = startWorker();
    worker.addEventListener('error', () => tell({ type: 'broken' }));
    return worker;
  }

  async function lock(): Promise<void> {
    endWorker();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    otherTabs.postMessage('lock');
    try {
      await endSession(indexedDB);
      tell({ type: 'locked' });
    } catch (error) {
      tell({ type: 'lock-failed', name: error instanceof Error ? error.name : 'unknown' });
    }
  }

  page.addEventListener('message', ({ data, ports: [port] }) => {
    if (isOfType(data, 'start') && port !== undefined) {
      void locking.then(() => workerOf().postMessage(null, [port]));
    }
    if (isOfType(data, 'lock')) locking = locking.then(lock);
    if (isOfType(data, 'keep')) void keepFiles();
  });
  page.start();
  // A page whose own script has been replaced would keep its worker open.
  otherTabs.addEventListener('message', () => {
    endWorker();
    tell({ type: 'locked' });
  });
}

window.addEventListener('message', function connect({ data, origin, ports: [port], source }) {
  if (source !== window.parent || !isKeysOriginOf(origin, window.location.origin)) return;
  if (!isOfType(data, 'connect') || port === undefined) return;
  window.removeEventListener('message', connect);
  serve(port);
});
// Whoever frames it may know that it is here; the browser lets none but the app do so.
const ready: Ready = { type: 'ready', version: interfaceVersion };
if (window.parent !== window) window.parent.postMessage(ready, '*');
