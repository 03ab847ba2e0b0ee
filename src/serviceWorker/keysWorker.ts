import { keysPath } from './navigations.ts';
import { importOperatorSettings } from './operatorSettings.ts';
import { type Build, Precache } from './precache.ts';

/** The service worker at the origin of the keys: it keeps the frame with its files. */
declare const self: ServiceWorkerGlobalScope;
/** Written by the build (build/serviceWorker.ts). */
declare const __BUILD__: Build;

const { headers } = importOperatorSettings(self);

const isWorker = (path: string): boolean => path.startsWith('/assets/crypto.worker-');

const precache = new Precache({
  build: __BUILD__,
  page: { file: '/keys.html', answers: (pathname) => pathname === keysPath, beginsWith: isWorker },
  headersOf: (path) => (isWorker(path) ? headers.keys.worker : headers.keys.page),
  origin: self.location.origin,
  caches: self.caches,
  fetch: self.fetch.bind(self),
  digest: (content) => self.crypto.subtle.digest('SHA-256', content),
  // The frame shows nothing: what is refused isn't loaded, and the page says so.
  onRefused: () => undefined,
});

/** The Static Routing API, which not every browser has, and which no types describe yet. */
type RoutedInstall = ExtendableEvent & {
  readonly addRoutes?: (routes: { condition: { urlPattern: string }; source: string }[]) => Promise<void>;
};

self.addEventListener('install', (event: RoutedInstall) => {
  // The network is asked for the document while this worker is still starting, and whoever is first answers: the start
  // of the app would wait for it. Offline there is this worker alone, which checks what it has, as it does all files.
  const source = 'race-network-and-fetch-handler';
  const routed = event.addRoutes?.([{ condition: { urlPattern: keysPath }, source }]);
  event.waitUntil(Promise.all([precache.install(), routed]));
});
self.addEventListener('activate', (event) => event.waitUntil(precache.activate()));
self.addEventListener('fetch', (event) => {
  const answer = precache.answer(event.request);
  if (answer !== null) event.respondWith(answer);
});
