/**
 * The frame at the origin of the keys, in which the worker runs and its IndexedDB is: no script of the page can read
 * either. It hands the page a port to the worker, and locks by itself, however busy the worker is. It becomes visible while
 * the worker asks for the password (passwordForm.ts), if the page lets it.
 */

import { type FrameNotice, interfaceVersion, isOfType, type Ready } from '../api/frameMessages.ts';
import { isKeysOriginOf } from '../api/origins.ts';
import type { PromptRequest } from '../api/prompt.ts';
import { endSession } from '../session/endSession.ts';
import { keep } from './keep.ts';
// oxlint-disable-next-line import/default -- the default export is Vite's: the address of the built styles
import stylesUrl from './keys.css?url';
import { createPasswordForm } from './passwordForm.ts';
import { createProofs } from './proofs.ts';
import { connectPage, guard } from './releases.ts';
import { startWorker } from './startWorker.ts';

const otherTabs = new BroadcastChannel('sinetti-lock');
/** Set while there may be a session: a visitor needs no worker. */
const sessionMark = 'session';
/** The page, once it has connected. */
let page: MessagePort | null = null;
let isBroken = false;
const passwordForm = createPasswordForm({
  setVisible: (visible) => tell({ type: visible ? 'show' : 'hide' }),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  answer: (answer) => worker?.postMessage(answer),
});
/**
 * Null until somebody needs it, and after a lock. Where there was a session it starts at once, so that it gets ready while
 * the page is still too busy to answer.
 */
let worker: Worker | null = localStorage.getItem(sessionMark) === null ? null : start();
/** Each lock, after the one before: a worker that starts meanwhile must not find the session. */
let locking: Promise<unknown> = Promise.resolve();
guard(() => {
  locking = locking.then(lock);
});

function start(): Worker {
  const started = startWorker();
  started.addEventListener('error', () => {
    isBroken = true;
    passwordForm.close();
    tell({ type: 'broken' });
  });
  // The worker speaks to this thread about nothing but the password.
  started.addEventListener('message', ({ data }: MessageEvent<PromptRequest>) => passwordForm.receive(data));
  return started;
}

const proofs = createProofs(startWorker, () => tell({ type: 'proof-broken' }));

function tell(notice: FrameNotice): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  page?.postMessage(notice);
}

function endWorker(): void {
  worker?.terminate();
  worker = null;
  passwordForm.close();
}

async function lock(): Promise<void> {
  endWorker();
  localStorage.removeItem(sessionMark);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  otherTabs.postMessage('lock');
  try {
    await endSession(indexedDB);
    tell({ type: 'locked' });
  } catch (error) {
    tell({ type: 'lock-failed', name: error instanceof Error ? error.name : 'unknown' });
  }
}

// A page whose own script has been replaced would keep its worker open.
otherTabs.addEventListener('message', () => {
  endWorker();
  tell({ type: 'locked' });
});

/** Gives the worker a port to the page, after every lock that was asked for before. */
async function connectWorker(port: MessagePort): Promise<void> {
  await locking;
  localStorage.setItem(sessionMark, 'yes');
  worker ??= start();
  worker.postMessage(null, [port]);
}

function serve({ data, ports: [port] }: MessageEvent<unknown>): void {
  if (isOfType(data, 'start') && port !== undefined) {
    void connectWorker(port);
  }
  if (isOfType(data, 'prove') && port !== undefined) proofs.start(port);
  if (isOfType(data, 'end-proof')) proofs.end();
  if (isOfType(data, 'lock')) locking = locking.then(lock);
  if (isOfType(data, 'keep')) {
    void keep();
    loadStyles();
  }
  if (isOfType(data, 'room') && port !== undefined) {
    connectPage(port);
  }
  if (isOfType(data, 'visible')) {
    loadStyles();
    passwordForm.open({ language: textOf(data, 'language'), theme: textOf(data, 'theme') });
  }
  if (isOfType(data, 'dismiss')) passwordForm.cancel();
}

function textOf(message: object, field: string): string {
  const value: unknown = Reflect.get(message, field);
  return typeof value === 'string' ? value : '';
}

let hasStyles = false;

/** Has the browser read the styles: not at once, since the worker's script, which all wait for, takes the same way. */
function loadStyles(): void {
  if (hasStyles) return;
  hasStyles = true;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = stylesUrl;
  document.head.append(link);
}

function announce(): void {
  const ready: Ready = { type: 'ready', version: interfaceVersion };
  // Any page that frames it may know that it is here; the browser lets none but the app do so.
  if (window.parent !== window) window.parent.postMessage(ready, '*');
}

window.addEventListener('message', function connect({ data, origin, ports: [port], source }) {
  if (source !== window.parent || !isKeysOriginOf(origin, window.location.origin)) return;
  if (isOfType(data, 'hello')) announce();
  if (!isOfType(data, 'connect') || port === undefined) return;
  window.removeEventListener('message', connect);
  page = port;
  page.addEventListener('message', serve);
  page.start();
  if (isBroken) tell({ type: 'broken' });
});
announce();
