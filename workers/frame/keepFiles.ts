import { trustedScriptUrl } from '../../src/lib/trustedScriptUrl.ts';

let kept: Promise<unknown> | undefined;

/** Has the service worker of this origin keep the frame and its files in this browser. */
export async function keepFiles(): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  kept ??= navigator.serviceWorker
    .register(trustedScriptUrl('sinetti-service-worker', '/service-worker.js'), { updateViaCache: 'none' })
    // The browser forbids it: the app works, but not offline.
    .catch(() => undefined);
  await kept;
}
