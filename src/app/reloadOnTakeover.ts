import { isWorkerMessage } from '../serviceWorker/messages.ts';

/**
 * Loads this tab again once another version of the app answers for it. A tab may be loading at that moment: it hears of
 * it only if it listens from its first script on.
 */
export function reloadOnTakeover(container: ServiceWorkerContainer, reload: () => void): void {
  // The first version takes nothing over.
  if (container.controller === null) return;
  let isReloading = false;
  function reloadOnce(): void {
    if (isReloading) return;
    isReloading = true;
    reload();
  }
  container.addEventListener('controllerchange', () => {
    // Nothing takes over where the browser's storage was deleted, and the network would have the next page: this one stays.
    if (container.controller !== null) reloadOnce();
  });
  // A page that the former version has just answered may have the new controller before it runs a script, and no event.
  container.addEventListener('message', ({ data }) => {
    if (isWorkerMessage(data, 'takeover')) reloadOnce();
  });
}
