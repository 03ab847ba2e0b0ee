// oxlint-disable-next-line import/default -- the default export is Vite's: the address of the built worker
import workerUrl from '../../workers/crypto.worker.ts?worker&url';
import { trustedScriptUrl } from '../lib/trustedScriptUrl.ts';

export interface StartedWorker {
  readonly worker: Worker;
  /** Resolves when it can't be loaded or has died; noted from the start, because that may be before anybody asks. */
  readonly broken: Promise<void>;
}

let started: StartedWorker | null = null;

/** The worker that holds the keys: there is one, and it starts with the first call. */
export function cryptoWorker(): StartedWorker {
  started ??= start();
  return started;
}

function start(): StartedWorker {
  const url = trustedScriptUrl('sinetti-worker', workerUrl);
  const worker = new Worker(url, { type: 'module', name: 'sinetti-crypto' });
  const broken = new Promise<void>((resolve) => {
    worker.addEventListener('error', () => resolve());
  });
  return { worker, broken };
}
