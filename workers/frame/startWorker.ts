import { trustedScriptUrl } from '../../src/lib/trustedScriptUrl.ts';
// oxlint-disable-next-line import/default -- the default export is Vite's: the address of the built worker
import workerUrl from '../crypto.worker.ts?worker&url';

let trustedUrl: string | undefined;

/**
 * Starts the worker that holds the keys.
 * @param name of its thread; one that begins with `proofThread` makes an instance without any
 */
export function startWorker(name = 'sinetti-crypto'): Worker {
  // A Trusted Types policy is made once; a worker may have to be started again.
  trustedUrl ??= trustedScriptUrl('sinetti-worker', workerUrl);
  return new Worker(trustedUrl, { type: 'module', name });
}
