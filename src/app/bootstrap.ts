import { createCryptoClient } from '../crypto/client.ts';
import { keysFrame } from '../crypto/keysFrame.ts';
import { systemClock } from '../lib/clock.ts';
import { deviceName } from '../lib/deviceName.ts';
import type { Log } from '../lib/log.ts';
import { operator } from '../operator/index.ts';
import { createClient } from '../services/client/client.ts';
import type { Store } from '../services/core/deps.ts';
import { deviceStorageKey, tokenStorageKey } from '../services/session/token.ts';
import { type AppActions, actionsAtom } from '../store/actions.ts';
import { preferencesAtom } from '../store/preferences.ts';
import { authStatusAtom } from '../store/session.ts';
import { relayAddresses } from './relayAddresses.ts';

export interface BootstrapOptions {
  readonly store: Store;
  readonly log: Log;
  readonly loadScreens: () => Promise<unknown>;
  /** Changes the route for services. */
  readonly navigate: (path: string) => void;
}

/**
 * Wires everything in one place: services get their dependencies here, and features get the actions through the
 * store. The stored session is taken up in the background; until that is known, the status is `loading`.
 */
export function bootstrap(options: BootstrapOptions): AppActions {
  const { log, store } = options;
  const client = createClient({
    addresses: relayAddresses(operator, window.location.origin),
    crypto: createCryptoClient(),
    loadScreens: options.loadScreens,
    store,
    storage: window.localStorage,
    clock: systemClock,
    random: Math.random,
    locks: navigator.locks,
    log,
    newId: () => crypto.randomUUID(),
    events: window,
    deviceName: deviceName(navigator.userAgent),
    navigate: options.navigate,
    isOnline: () => navigator.onLine,
    isVisible: () => document.visibilityState === 'visible',
    showsReceipts: () => store.get(preferencesAtom).readReceipts,
    showsTyping: () => store.get(preferencesAtom).typing,
    indexedDB: window.indexedDB,
    serviceWorker: navigator.serviceWorker,
    createSocket: (url) => new WebSocket(url),
  });

  store.set(actionsAtom, client.actions);
  let isKept = false;
  /** Keeps the app in this browser from the first sign-in on, which spares visitors the download. */
  function keepApp(): void {
    if (isKept || import.meta.env.DEV || !('serviceWorker' in navigator)) return;
    isKept = true;
    void import('./updates.ts').then(({ keepUpToDate }) =>
      keepUpToDate({
        container: navigator.serviceWorker,
        store,
        clock: systemClock,
        log,
        storage: window.localStorage,
        navigate: (path) => window.location.assign(path),
        loadReleases: () => import('./releases.tsx'),
        lockKeys: () => void keysFrame().lock(),
      }),
    );
  }
  if (navigator.serviceWorker?.controller) keepApp();
  store.sub(authStatusAtom, () => {
    if (store.get(authStatusAtom) !== 'success') return;
    keepApp();
    // Not before: it would keep the frame busy while its worker starts.
    if (!import.meta.env.DEV) keysFrame().keep();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') client.onVisible();
    else client.onHidden();
  });
  for (const change of ['online', 'offline']) {
    window.addEventListener(change, () => client.session.onNetworkChanged());
  }
  window.addEventListener('pagehide', () => client.onLeft());
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) client.onReturned();
  });
  window.addEventListener('storage', (event) => {
    if (event.key === deviceStorageKey && event.newValue !== null) return window.location.reload();
    client.onStorageChanged(event.key);
    if (event.key !== tokenStorageKey && event.key !== null) return;
    if (client.session.onTokenChanged() === 'reload') window.location.reload();
  });
  void client.session.resume();

  return client.actions;
}
