import { createStore } from 'jotai';
import { createCryptoClient } from '../crypto/client.ts';
import { systemClock } from '../lib/clock.ts';
import { deviceName } from '../lib/deviceName.ts';
import { createLog } from '../lib/log.ts';
import { mqttPath, presencePath } from '../net/contract.ts';
import { createClient, type RelayAddresses } from '../services/client.ts';
import type { Store } from '../services/deps.ts';
import { tokenStorageKey } from '../services/token.ts';
import { actionsAtom } from '../store/actions.ts';
import { authStatusAtom } from '../store/session.ts';

export interface Bootstrapped {
  readonly store: Store;
  /** How services change the route; to be set by the router before a person can do anything. */
  setNavigate(navigate: (path: string) => void): void;
}

/** The page's own origin unless the build names another host (RELAY, Operation). */
function relayAddresses(): RelayAddresses {
  const apiHost: string = import.meta.env.VITE_API_HOST ?? '';
  const socketOrigin = new URL(apiHost === '' ? window.location.origin : apiHost);
  socketOrigin.protocol = socketOrigin.protocol === 'https:' ? 'wss:' : 'ws:';
  return {
    apiHost,
    mqttUrl: import.meta.env.VITE_MQTT_URL ?? new URL(mqttPath, socketOrigin).href,
    presenceUrl: new URL(presencePath, socketOrigin).href,
  };
}

/**
 * The one place that wires everything: services get what they need here, and features get the actions through the
 * store. The stored session is taken up in the background; until that is known, the status is `loading`.
 */
export async function bootstrap(): Promise<Bootstrapped> {
  const store = createStore();
  // Before there is a router a full navigation does the same.
  let navigate = (path: string): void => window.location.assign(path);

  const client = createClient({
    addresses: relayAddresses(),
    crypto: createCryptoClient(),
    store,
    storage: window.localStorage,
    clock: systemClock,
    random: Math.random,
    locks: navigator.locks,
    log: createLog(console),
    newId: () => crypto.randomUUID(),
    events: window,
    deviceName: deviceName(navigator.userAgent),
    navigate: (path) => navigate(path),
    isVisible: () => document.visibilityState === 'visible',
    createSocket: (url) => new WebSocket(url),
  });

  store.set(actionsAtom, client.actions);
  store.sub(authStatusAtom, () => {
    // Sealed records are all a device has: ask the browser not to evict them (PROTOCOL section 5).
    if (store.get(authStatusAtom) === 'success') void navigator.storage?.persist?.();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') client.onVisible();
  });
  window.addEventListener('storage', (event) => {
    if (event.key !== tokenStorageKey && event.key !== null) return;
    if (client.session.onTokenChanged() === 'reload') window.location.reload();
  });
  void client.session.resume();

  return {
    store,
    setNavigate(change) {
      navigate = change;
    },
  };
}
