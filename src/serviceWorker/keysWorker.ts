import { importOperatorSettings } from './operatorSettings.ts';
import { type Build, Precache } from './precache.ts';

/** The service worker at the origin of the keys: it keeps the frame with its files. */
declare const self: ServiceWorkerGlobalScope;
/** Written by the build (build/serviceWorker.ts). */
declare const __BUILD__: Build;

const { headers } = importOperatorSettings(self);

const precache = new Precache({
  build: __BUILD__,
  page: { file: '/keys.html', answers: (pathname) => pathname === '/keys' },
  headersOf: (path) => (path.startsWith('/assets/crypto.worker-') ? headers.keys.worker : headers.keys.page),
  origin: self.location.origin,
  caches: self.caches,
  fetch: self.fetch.bind(self),
  digest: (content) => self.crypto.subtle.digest('SHA-256', content),
  // The frame shows nothing: what is refused isn't loaded, and the page says so.
  onRefused: () => undefined,
});

self.addEventListener('install', (event) => event.waitUntil(precache.install()));
self.addEventListener('activate', (event) => event.waitUntil(precache.activate()));
self.addEventListener('fetch', (event) => {
  const answer = precache.answer(event.request);
  if (answer !== null) event.respondWith(answer);
});
