import { answerReleases } from './answerReleases.ts';
import { answerMedia } from './media.ts';
import { activateMessage, type WorkerMessage } from './messages.ts';
import { answerForeignPage, answerWithoutPage, isPageOfApp, withKeysOrigin } from './navigations.ts';
import { openChatOf } from './notificationClick.ts';
import { answerOperator, importOperatorSettings } from './operatorSettings.ts';
import { type Build, Precache } from './precache.ts';
import { installReleased, PinnedReleases } from './releases.ts';

declare const self: ServiceWorkerGlobalScope;
/** Written by the build (build/serviceWorker.ts). */
declare const __BUILD__: Build;
/** The build writes its whole list at each place that names it. */
const build = __BUILD__;

const settings = importOperatorSettings(self);
const { headers, keysOrigin } = settings;

async function tellPages(message: WorkerMessage, { includeUncontrolled = false } = {}): Promise<void> {
  for (const client of await self.clients.matchAll({ includeUncontrolled })) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
    client.postMessage(message);
  }
}

const releases = new PinnedReleases({
  origin: 'app',
  address: self.location.origin,
  build,
  settings,
  exclusively: (work) => self.navigator.locks.request('releases', work),
  caches: self.caches,
  fetch: self.fetch.bind(self),
  onPinned: () => void tellPages({ type: 'release' }, { includeUncontrolled: true }),
});

const network = { fetch: self.fetch.bind(self), isPinned: () => releases.isPinned() };

const precache = new Precache({
  ...network,
  build,
  // Every route of the client is the one page.
  page: {
    file: '/index.html',
    answers: isPageOfApp,
    filled: (page) => withKeysOrigin(page, keysOrigin),
  },
  headersOf: () => headers.app.page,
  origin: self.location.origin,
  caches: self.caches,
  digest: (content) => self.crypto.subtle.digest('SHA-256', content),
  onRefused: () => void tellPages({ type: 'refused' }, { includeUncontrolled: true }),
});

self.addEventListener('install', (event) =>
  event.waitUntil(
    installReleased(releases, precache, (refusal) =>
      tellPages({ type: 'release', refusal }, { includeUncontrolled: true }),
    ),
  ),
);
self.addEventListener('activate', (event) =>
  event.waitUntil(Promise.all([precache.activate(), tellPages({ type: 'takeover' })])),
);
self.addEventListener('fetch', (event) => {
  const { clients, location } = self;
  const answer =
    answerMedia(event.request, event.clientId, { origin: location.origin, clients }) ??
    answerWithoutPage(event.request, location.origin, keysOrigin) ??
    answerOperator(event.request, location.origin, settings) ??
    precache.answer(event.request) ??
    answerForeignPage(event.request, location.origin, isPageOfApp, network);
  if (answer !== null) event.respondWith(answer);
});

self.addEventListener('message', (event) => {
  answerReleases(event, releases);
  // Until a person says so the version in use stays: pages and their files are never of two versions.
  if (event.data !== activateMessage) return;
  event.waitUntil(self.skipWaiting());
});
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openChatOf(event.notification, self.clients));
});
