import { trustedScriptUrl } from '../../src/lib/trustedScriptUrl.ts';
import { watch } from './releases.ts';

let kept: Promise<unknown> | undefined;

/**
 * Keeps what is at this origin in this browser: the service worker keeps the frame and its files, and the browser is
 * asked not to evict the sealed records, which are all that a device has (PROTOCOL section 5). Chromium grants that to no
 * frame, only to the page that the person opens for it (storagePage.ts); Firefox asks the person.
 */
export async function keep(): Promise<void> {
  kept ??= Promise.all([keepFiles(), navigator.storage.persist()]).catch(() => undefined);
  await kept;
}

async function keepFiles(): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  const url = trustedScriptUrl('sinetti-service-worker', '/service-worker.js');
  // The app works without it where the browser forbids it, but not offline.
  watch(await navigator.serviceWorker.register(url, { updateViaCache: 'none' }));
}
