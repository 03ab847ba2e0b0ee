import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { chunkName, perLanguage, readScripts, scriptsOf } from '../size/scripts.mjs';
import { expect, test } from './support/test.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist', 'app');

/** Chunks that come after the page is drawn, to be there when they are wanted. */
const afterwards = [
  'Chat',
  'ContactsTab',
  'GroupsTab',
  'ProfilePanel',
  'ToastRegion',
  'invitations',
  'keyPackages',
  'parts',
  'tabs',
  'updates',
];

/** Addresses that the page asks for, from now on. */
function requestsOf(page: Page): string[] {
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  return requests;
}

/** Scripts among them; of those that there are in each language, the one that was loaded is counted by another. */
function scriptNames(requests: readonly string[]): string[] {
  const names = requests.map((url) => /\/assets\/([\w.-]+\.js)$/.exec(url)?.[1]);
  return names.filter((name) => name !== undefined && !perLanguage.includes(chunkName(name))) as string[];
}

test('visitors load what the size check counts, and nothing from elsewhere', async ({
  newBrowser,
  relay,
}) => {
  const { person: visitor } = await newBrowser('visitor');
  const all = requestsOf(visitor.page);
  await visitor.page.goto('/', { waitUntil: 'networkidle' });
  await expect(visitor.page.getByRole('link', { name: 'Get Started' })).toBeVisible();
  // The frame, a page with its script in it, is there for whoever signs up; who only reads starts no worker.
  const { origin } = new URL(visitor.page.frames().at(-1)?.url() ?? '');
  const requests = all.filter((url) => !url.startsWith(origin));
  expect(all.length - requests.length).toBe(1);
  expect(visitor.page.workers()).toEqual([]);
  const counted = scriptsOf('landing', dist, readScripts(dist));
  expect(scriptNames(requests).filter((name) => !counted.includes(name))).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(relay.url))).toEqual([]);
});

test('members load what the size check counts before they see their messages', async ({
  newBrowser,
  relay,
}) => {
  // The service worker would ask for the whole application.
  const { person: alice } = await newBrowser('alice', { serviceWorkers: 'block' });
  await alice.signUp();
  const keysOrigin = new URL(alice.page.frames().at(-1)?.url() ?? '').origin;
  const all = requestsOf(alice.page);
  await alice.page.reload({ waitUntil: 'networkidle' });
  await alice.onDashboard();
  // The origin of the keys has a limit of its own (tests/size/check.mjs).
  const requests = all.filter((url) => !url.startsWith(keysOrigin));
  expect(requests.length).toBeLessThan(all.length);
  const scripts = readScripts(dist);
  const counted = scriptsOf('dashboard', dist, scripts);
  const late = new Set(
    [...scripts.keys()]
      .filter((name) => afterwards.includes(chunkName(name)))
      .flatMap((name) => [name, ...closure(name)]),
  );
  function closure(name: string): string[] {
    return (scripts.get(name)?.imports ?? []).flatMap((imported) => [imported, ...closure(imported)]);
  }
  expect(scriptNames(requests).filter((name) => !counted.includes(name) && !late.has(name))).toEqual([]);
  expect(requests.filter((url) => new URL(url).host !== new URL(relay.url).host)).toEqual([]);
});
