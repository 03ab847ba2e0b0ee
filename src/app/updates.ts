import type { createStore } from 'jotai';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { trustedScriptUrl } from '../lib/trustedScriptUrl.ts';
import {
  activateMessage,
  isWorkerMessage,
  nudgePath,
  releaseAgreementKey,
} from '../serviceWorker/messages.ts';
import { readyUpdateAtom } from '../store/update.ts';
import type { followReleases, hear } from './releases.tsx';

const scriptUrl = '/service-worker.js';
/** A tab may stay open for weeks; browsers look by themselves only when a page is loaded. */
const checkIntervalMs = 60 * 60 * 1000;
const nudgeIntervalMs = 2_000;

export interface UpdatesOptions {
  readonly container: ServiceWorkerContainer;
  readonly store: ReturnType<typeof createStore>;
  readonly clock: Clock;
  readonly log: Log;
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly navigate: (path: string) => void;
  /** Loads what holds on to signed releases. */
  readonly loadReleases: () => Promise<Releases>;
  readonly lockKeys: () => void;
}

interface Releases {
  readonly followReleases: typeof followReleases;
  readonly hear: typeof hear;
}

/**
 * Keeps the app in this browser (src/serviceWorker), so that it opens offline, and offers newer versions of it. A
 * version that is ready waits until the person wants it or all tabs are closed; then all tabs change at once
 * (reloadOnTakeover).
 */
export async function keepUpToDate({
  clock,
  container,
  loadReleases,
  lockKeys,
  log,
  navigate,
  storage,
  store,
}: UpdatesOptions): Promise<void> {
  function takeOver(waiting: ServiceWorker): void {
    // Also where no release was held on to before this version, which brings the first one.
    if (storage.getItem(releaseAgreementKey) !== null)
      storage.setItem(releaseAgreementKey, String(Date.now()));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    waiting.postMessage(activateMessage);
    // A request of a tab restarts the version in use while the browser stops it, and Chromium then waits until no
    // request has come for 30 seconds. A second activate message changes nothing; a navigation does: the browser stops
    // the version in use as soon as it has answered.
    const nudges = clock.every(nudgeIntervalMs, () => {
      if (waiting.state === 'installed') navigate(nudgePath);
      else nudges.cancel();
    });
    // From then on this tab loads again, and a navigation would take the place of that: the tab would keep a page of which nobody has the
    // rest any more. Its state comes by another way than these, and later on a busy machine.
    container.addEventListener('controllerchange', () => nudges.cancel());
    container.addEventListener('message', ({ data }) => {
      if (isWorkerMessage(data, 'takeover')) nudges.cancel();
    });
  }

  function offer(waiting: ServiceWorker): void {
    store.set(readyUpdateAtom, { apply: () => takeOver(waiting) });
  }

  function follow(installing: ServiceWorker): void {
    let isComplete = false;
    installing.addEventListener('statechange', () => {
      if (installing.state === 'redundant' && !isComplete)
        log.warn('update-failed', { code: 'not-installed' });
      isComplete = true;
      // The first version is no update.
      if (installing.state === 'installed' && container.controller !== null) offer(installing);
    });
  }

  container.addEventListener('message', ({ data }) => {
    if (isWorkerMessage(data, 'refused')) log.warn('update-failed', { code: 'hash-mismatch' });
    if (isWorkerMessage(data, 'release'))
      void loadReleases().then(({ hear }) => hear(data, { container, log, storage, store }));
  });

  try {
    const url = trustedScriptUrl('sinetti-service-worker', scriptUrl);
    const registration = await container.register(url, { updateViaCache: 'none' });
    clock.every(checkIntervalMs, () => void registration.update().catch(() => undefined));
    if (storage.getItem(releaseAgreementKey) !== null && container.controller !== null) {
      const guard = await loadReleases().catch(() => null);
      // A relay that withholds what would notice a stranger's service worker is not to have the keys beside it.
      if (guard === null) lockKeys();
      return guard?.followReleases({ clock, container, log, registration, storage, store, takeOver });
    }
    if (registration.waiting !== null && container.controller !== null) offer(registration.waiting);
    if (registration.installing !== null) follow(registration.installing);
    registration.addEventListener('updatefound', () => {
      if (registration.installing !== null) follow(registration.installing);
    });
  } catch {
    // The browser forbids it, or the file is missing: the app works, but not offline.
    log.warn('update-failed', { code: 'not-registered' });
  }
}
