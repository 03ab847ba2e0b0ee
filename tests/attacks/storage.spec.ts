import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../e2e/browser.mjs';
import { becomeContacts, Person } from '../e2e/support/person.ts';
import { expect, test } from '../e2e/support/test.ts';

test('a script in the page finds no key in what its origin stores', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const found = await alice.page.evaluate(async () => {
    const [frame] = document.getElementsByTagName('iframe');
    const reach = (read: () => unknown): string => {
      try {
        return String(read());
      } catch (error) {
        return error instanceof Error ? error.name : 'refused';
      }
    };
    return {
      databases: await indexedDB.databases(),
      // What the attack began with: the row with the key that wraps the storage key.
      session: reach(() => frame?.contentWindow?.indexedDB),
      document: String(frame?.contentDocument),
      caches: reach(() => frame?.contentWindow?.caches),
      kept: Object.keys(localStorage).filter((name) => /key|seed|vault|secret/i.test(name)),
    };
  });
  expect(found).toEqual({
    databases: [],
    session: 'SecurityError',
    document: 'null',
    caches: 'SecurityError',
    kept: [],
  });
});

test('the keys have a process of their own', async ({ newBrowser, browser }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const session = await browser.newBrowserCDPSession();
  const { targetInfos } = await session.send('Target.getTargets');
  const keys = targetInfos.filter(({ type, url }) => type === 'iframe' && url.endsWith('/keys'));
  expect(keys).toHaveLength(1);
  const isolated = await Promise.all(
    alice.page.frames().map((frame) => frame.evaluate(() => crossOriginIsolated)),
  );
  expect(isolated).toEqual([false, false]);
});

test('only the app frames the keys', async ({ newBrowser, relay }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const keysUrl =
    alice.page
      .frames()
      .find((frame) => frame.url().endsWith('/keys'))
      ?.url() ?? '';
  const stranger = await alice.page.context().newPage();
  const refusals: string[] = [];
  stranger.on('console', (message) => refusals.push(message.text()));
  // Of the same site, but neither the app nor a page that the relay knows.
  await stranger.route(`${relay.url.replace('localhost', '127.0.0.1')}/stranger`, (route) =>
    route.fulfill({ contentType: 'text/html', body: `<iframe src="${keysUrl}"></iframe>` }),
  );
  await stranger.goto(`${relay.url.replace('localhost', '127.0.0.1')}/stranger`);
  await expect.poll(() => refusals.join(' ')).toContain('frame-ancestors');
  expect(stranger.workers()).toEqual([]);
});

test('a changed page in the cache is served to nobody', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  await alice.signUp();
  await alice.page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      const changed = new Response('<title>changed</title>', { headers: { 'content-type': 'text/html' } });
      await cache.put('/index.html', changed);
    }
  });
  const answered = alice.page.waitForResponse((response) => response.request().isNavigationRequest());
  await alice.page.reload();
  const response = await answered;
  expect(response.fromServiceWorker()).toBe(true);
  expect(await response.headerValue('content-security-policy')).toContain("script-src 'self'");
  await alice.onDashboard();
  await expect(alice.page).not.toHaveTitle('changed');
  // The built page is back in its place, for when there is no network.
  await context.setOffline(true);
  await alice.page.reload();
  await alice.onDashboard();
});

test('logging out in the midst of a password change leaves nothing that opens', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const { page } = alice;
  const kept = await page.evaluate(() => ({ ...localStorage }));
  await alice.tab('Profile').click();
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByLabel('Current password').fill(alice.password);
  await page.getByLabel('New password', { exact: true }).fill('another horse battery');
  await page.getByLabel('New password again').fill('another horse battery');
  const keys = page.frames().find((frame) => frame.url().endsWith('/keys'));
  // The worker is busy with the old password when the person leaves.
  await page.evaluate(() => {
    const named = (name: string) =>
      [...document.querySelectorAll('button')].find((button) =>
        [button.textContent?.trim(), button.getAttribute('aria-label')].includes(name),
      );
    document.querySelector<HTMLInputElement>('input[name="repeatedPassword"]')?.form?.requestSubmit();
    setTimeout(() => named('Logout')?.click(), 150);
  });
  await expect(page).toHaveURL('/');
  const sessions = await keys?.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error('no answer'));
      });
    const root = await settled(indexedDB.open('sinetti'));
    const count = await settled(root.transaction('sessions').objectStore('sessions').count());
    root.close();
    return count;
  });
  expect(sessions).toBe(0);
  // Whoever has kept what the page stored opens nothing with it.
  await page.evaluate((stored) => Object.assign(localStorage, stored), kept);
  await page.goto('/dashboard');
  await expect(page).toHaveURL(/\/login/);
});

test('the profile on the disk holds nothing that was written or searched', async ({ newBrowser, relay }) => {
  const folder = await mkdtemp(join(tmpdir(), 'sinetti-profile-'));
  const context = await chromium.launchPersistentContext(folder, {
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: chromiumArgs,
    baseURL: relay.url,
  });
  const alice = await Person.in(context, 'alice');
  await alice.signUp();
  const { person: bob } = await newBrowser('bob');
  await bob.signUp();
  await becomeContacts(alice, bob);
  await alice.openChat(bob);
  await alice.send('The harbourmaster keeps the second ledger.');
  await alice.page.getByPlaceholder('Type a message...').fill('An unsent line about the quicksilver.');
  await alice.page.getByRole('searchbox').first().fill('marmalade');
  // What the browser would restore is written when a tab goes on to another page.
  await alice.page.goto('/about');
  await alice.page.goBack();
  await alice.onDashboard();
  await context.close();

  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const found: string[] = [];
  for (const { name, parentPath } of files) {
    const content = await readFile(join(parentPath, name));
    for (const sentence of ['harbourmaster', 'quicksilver', 'marmalade', alice.password]) {
      for (const encoding of ['utf8', 'utf16le'] as const) {
        if (content.includes(Buffer.from(sentence, encoding))) found.push(`${name}: ${sentence}`);
      }
    }
  }
  // The relay's address is in it, so the hunt would have found a text.
  expect(files.length).toBeGreaterThan(20);
  expect(found).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});
