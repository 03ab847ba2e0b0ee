import type { createStore } from 'jotai';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { releaseAgreementKey } from '../lib/releaseAgreement.ts';
import { trustedScriptUrl } from '../lib/trustedScriptUrl.ts';
import {
  activateMessage,
  isWorkerMessage,
  nudgePath,
  refusalIn,
  verdictMessage,
} from '../serviceWorker/messages.ts';
import { readyUpdateAtom } from '../store/update.ts';
import type { ReleasesFollowed } from './releases.tsx';

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
}

/**
 * Keeps the app in this browser (src/serviceWorker), so that it opens offline, and offers newer versions of it. A
 * version that is ready waits until the person wants it or all tabs are closed; then all tabs change at once
 * (reloadOnTakeover).
 */
export async function keepUpToDate({
  clock,
  container,
  log,
  navigate,
  storage,
  store,
}: UpdatesOptions): Promise<void> {
  function takeOver(waiting: ServiceWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    waiting.postMessage(activateMessage);
    // A request of a tab restarts the version in use while the browser stops it, and Chromium then waits until no
    // request has come for 30 seconds. A second activate message changes nothing; a navigation does: the browser stops
    // the version in use as soon as it has answered.
    const nudges = clock.every(nudgeIntervalMs, () => {
      if (waiting.state === 'installed') navigate(nudgePath);
      else nudges.cancel();
    });
  }

  function offer(waiting: ServiceWorker): void {
    store.set(readyUpdateAtom, { apply: () => takeOver(waiting) });
  }

  /** Whether this browser holds on to a signed release (src/serviceWorker/releases.ts). */
  const isPinned = () => storage.getItem(releaseAgreementKey) !== null;
  let following: Promise<ReleasesFollowed> | undefined;
  const releases = (registration: ServiceWorkerRegistration) => {
    following ??= import('./releases.tsx').then(({ followReleases }) =>
      followReleases({ clock, container, log, offer, registration, storage, store, takeOver }),
    );
    return following;
  };

  function follow(installing: ServiceWorker, registration: ServiceWorkerRegistration): void {
    let isComplete = false;
    installing.addEventListener('statechange', () => {
      // The first version is no update.
      if (isPinned() && container.controller !== null) {
        if (['installed', 'redundant'].includes(installing.state) && !isComplete)
          void releases(registration).then(({ consider }) => consider(installing));
        isComplete = true;
        return;
      }
      if (installing.state === 'redundant' && !isComplete)
        log.warn('update-failed', { code: 'not-installed' });
      isComplete = true;
      // The first version is no update.
      if (installing.state === 'installed' && container.controller !== null) offer(installing);
    });
  }

  container.addEventListener('message', ({ data }) => {
    if (isWorkerMessage(data, 'refused')) log.warn('update-failed', { code: 'hash-mismatch' });
    if (isWorkerMessage(data, 'pinned') && !isPinned()) storage.setItem(releaseAgreementKey, '0');
    const refusal = refusalIn(data);
    if (refusal !== null && container.controller === null)
      void import('./releases.tsx').then(({ tellOfFirst }) => tellOfFirst(store, log, refusal));
  });

  try {
    const url = trustedScriptUrl('sinetti-service-worker', scriptUrl);
    const registration = await container.register(url, { updateViaCache: 'none' });
    const { waiting } = registration;
    if (waiting !== null && container.controller !== null) {
      if (isPinned()) void releases(registration).then(({ consider }) => consider(waiting));
      else offer(waiting);
    }
    if (registration.installing !== null) follow(registration.installing, registration);
    registration.addEventListener('updatefound', () => {
      if (registration.installing === null) return;
      follow(registration.installing, registration);
      // What comes may take over before it is asked about.
      if (isPinned() && container.controller !== null) void releases(registration).then(({ look }) => look());
    });
    if (isPinned()) void releases(registration).then(({ look }) => look());
    clock.every(checkIntervalMs, () => {
      void registration.update().catch(() => undefined);
      if (isPinned()) void releases(registration).then(({ look }) => look());
      // A relay may have begun to sign its releases.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
      else registration.active?.postMessage(verdictMessage);
    });
  } catch {
    // The browser forbids it, or the file is missing: the app works, but not offline.
    log.warn('update-failed', { code: 'not-registered' });
  }
}
