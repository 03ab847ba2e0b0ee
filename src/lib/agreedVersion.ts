import { inUseMessage } from '../serviceWorker/releaseMessages.ts';
import { betweenRelays } from './askVerdict.ts';
import { askWorker } from './askWorker.ts';

/**
 * Has the browser install the version of a release that the person has just agreed to. A connection that is bad for a moment costs nobody
 * the answer that they gave.
 * @param wait resolves after so many milliseconds
 * @returns the version that waits, `same` where this origin has nothing of its own to change, and `failed` where it can't be had
 */
export async function installAgreed(
  registration: ServiceWorkerRegistration,
  wait: (ms: number) => Promise<void>,
): Promise<ServiceWorker | 'same' | 'failed'> {
  for (let tried = 0; tried < 3; tried += 1) {
    if (tried > 0) await wait(betweenRelays);
    // The browser may have begun one by itself, as a page was loaded; a look that comes meanwhile finds nothing else.
    await ended(registration.installing);
    // A version that waits is none that was agreed to where the one in use is: nothing of it comes into use by the person's word.
    if (await isInUse(registration)) return 'same';
    const hasLooked = await registration.update().then(
      () => true,
      () => false,
    );
    if (!hasLooked) continue;
    const next = registration.installing ?? registration.waiting;
    if (next !== null) return (await ended(next)) === 'redundant' ? 'failed' : next;
  }
  return 'failed';
}

/** Returns whether the version in use is of the release that was agreed to last. */
async function isInUse({ active }: ServiceWorkerRegistration): Promise<boolean> {
  return active !== null && (await askWorker<string | null>(active, inUseMessage)) !== null;
}

/** Resolves with the state in which a version is once it is installed, or as far as it is to come, or will never be. */
export function ended(
  worker: ServiceWorker | null,
  state: ServiceWorkerState = 'installed',
): Promise<ServiceWorkerState | null> {
  return new Promise((resolve) => {
    const look = () => {
      if (worker !== null && stages.indexOf(worker.state) < stages.indexOf(state)) return;
      worker?.removeEventListener('statechange', look);
      resolve(worker?.state ?? null);
    };
    worker?.addEventListener('statechange', look);
    look();
  });
}

/** In this order; the last one may come at any time. */
const stages: readonly ServiceWorkerState[] = [
  'parsed',
  'installing',
  'installed',
  'activating',
  'activated',
  'redundant',
];
