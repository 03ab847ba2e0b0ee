import { answerReleases } from './answerReleases.ts';
import { activateMessage, type WorkerMessage } from './messages.ts';
import { answerForeignPage, keysPath } from './navigations.ts';
import { importOperatorSettings } from './operatorSettings.ts';
import { type Build, Precache } from './precache.ts';
import { installReleased, PinnedReleases } from './releases.ts';
import { answerStoragePage } from './storagePage.ts';

/** The service worker at the origin of the keys: it keeps the frame with its files. */
declare const self: ServiceWorkerGlobalScope;
/** Written by the build (build/serviceWorker.ts). */
declare const __BUILD__: Build;
/** The build writes its whole list at each place that names it. */
const build = __BUILD__;

const settings = importOperatorSettings(self);
const { headers } = settings;

const isWorker = (path: string): boolean => path.startsWith('/assets/crypto.worker-');

/** The frame shows nothing itself: it passes on to the page what is refused. */
async function tellFrames(message: WorkerMessage): Promise<void> {
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    client.postMessage(message);
  }
}

const releases = new PinnedReleases({
  origin: 'keys',
  address: self.location.origin,
  build,
  settings,
  exclusively: (work) => self.navigator.locks.request('releases', work),
  caches: self.caches,
  fetch: self.fetch.bind(self),
});

const network = { fetch: self.fetch.bind(self), isPinned: () => releases.isPinned() };
const isPageOfKeys = (pathname: string): boolean => pathname === keysPath;

const precache = new Precache({
  ...network,
  build,
  page: { file: '/keys.html', answers: (pathname) => pathname === keysPath, beginsWith: isWorker },
  headersOf: (path) => (isWorker(path) ? headers.keys.worker : headers.keys.page),
  origin: self.location.origin,
  caches: self.caches,
  digest: (content) => self.crypto.subtle.digest('SHA-256', content),
  onRefused: () => void tellFrames({ type: 'refused' }),
});

/** The Static Routing API, which not every browser has, and which no types describe yet. */
type RoutedInstall = ExtendableEvent & {
  readonly addRoutes?: (routes: { condition: { urlPattern: string }; source: string }[]) => Promise<void>;
};

async function install(event: RoutedInstall): Promise<void> {
  await installReleased(releases, precache, (refusal) => tellFrames({ type: 'release', refusal }));
  if (await releases.isPinned()) return;
  // The network is asked for the document while this worker is still starting, and whoever is first answers: the start
  // of the app would wait for it. Offline there is this worker alone, which checks what it has, as it does all files. Where
  // a release is held on to, nobody but this worker answers.
  const source = 'race-network-and-fetch-handler';
  await event.addRoutes?.([{ condition: { urlPattern: keysPath }, source }]);
}

self.addEventListener('install', (event) => event.waitUntil(install(event)));
self.addEventListener('activate', (event) => event.waitUntil(precache.activate()));
self.addEventListener('message', (event) => {
  if (event.data === activateMessage) event.waitUntil(self.skipWaiting());
  answerReleases(event, releases);
});
self.addEventListener('fetch', (event) => {
  const { location } = self;
  const answer =
    precache.answer(event.request) ??
    answerStoragePage(event.request, {
      address: location.origin,
      agreed: () => releases.agreed(),
      fetch: network.fetch,
    }) ??
    answerForeignPage(event.request, location.origin, isPageOfKeys, network);
  if (answer !== null) event.respondWith(answer);
});
