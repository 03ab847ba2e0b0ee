import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { appIsKept, builtClient } from './support/built.ts';
import { twoFriends, twoWhoTalk } from './support/friends.ts';
import { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const offlineLine = 'Offline: what you write is sent later';

const header = (page: Page) => page.getByRole('banner');

test('opens offline, keeps what is written, and catches up in order', async ({ newBrowser }) => {
  const { alice, aliceBrowser, bob } = await twoWhoTalk(
    newBrowser,
    { withMqtt: true },
    'While both were here.',
  );
  await appIsKept(alice.page);

  await aliceBrowser.setOffline(true);
  await alice.page.reload();
  await alice.onDashboard();
  await expect(header(alice.page)).toContainText(offlineLine);
  await expect(header(alice.page)).toContainText('alice');
  await bob.send('Where did you go?');
  await alice.openChat(bob);
  await alice.sees('While both were here.');
  await alice.send('First, on the train.');
  await alice.send('Second, in the tunnel.');
  await expect(alice.messages.getByRole('button', { name: 'Retry' })).toHaveCount(0);

  await alice.page.reload();
  await alice.onDashboard();
  await alice.openChat(bob);
  await alice.sees('First, on the train.', 'Second, in the tunnel.');
  await expect(bob.message('First, on the train.')).toHaveCount(0);

  await aliceBrowser.setOffline(false);
  await bob.sees('First, on the train.', 'Second, in the tunnel.');
  expect(await bob.messages.getByText(/^(First|Second), /).allTextContents()).toEqual([
    'First, on the train.',
    'Second, in the tunnel.',
  ]);
  await alice.sees('Where did you go?', 'First, on the train.', 'Second, in the tunnel.');
  await expect(header(alice.page)).not.toContainText(offlineLine);
  await bob.send('There you are.');
  await alice.sees('There you are.');
});

test('the worker that holds the keys has its policy offline, too', async ({ browser, relay }) => {
  const context = await browser.newContext({ baseURL: relay.url });
  const alice = await Person.in(context, 'alice');
  await alice.signUp();
  await appIsKept(alice.page);
  await context.setOffline(true);
  await alice.page.reload();
  await alice.onDashboard();
  const [worker] = alice.page.workers().filter((one) => one.url().includes('crypto.worker'));
  const violated = await worker?.evaluate(
    () =>
      new Promise((resolve) => {
        self.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
        fetch('/api/profile').catch(() => undefined);
      }),
  );
  expect(violated).toBe('connect-src');
  await context.close();
});

test('nothing but the built files is kept', async ({ newBrowser }) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await alice.send('Not for any cache.');
  await appIsKept(alice.page);
  await alice.page.reload();
  await alice.onDashboard();
  const kept = await alice.page.evaluate(async () => {
    const requests = await Promise.all(
      (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
    );
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });
  expect(kept).toContain('/index.html');
  const built = (await readdir(join(builtClient, 'app'), { recursive: true })).map((file) => `/${file}`);
  expect(kept.filter((path) => !built.includes(path))).toEqual([]);
  const keys = alice.page.frames().find((frame) => frame.url().endsWith('/keys'));
  const ofKeys = await keys?.evaluate(async () => {
    const requests = await Promise.all(
      (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
    );
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });
  const builtKeys = (await readdir(join(builtClient, 'keys'), { recursive: true })).map((file) => `/${file}`);
  expect(ofKeys).toContain('/keys.html');
  expect(ofKeys?.filter((path) => !builtKeys.includes(path))).toEqual([]);
});

test('a draft outlives a reload, and goes with its message', async ({ newBrowser }) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  const input = alice.page.getByPlaceholder('Type a message...');
  await input.fill('Half a thought');
  // Typing is kept within half a second.
  await alice.page.waitForTimeout(1_000);
  await alice.page.reload();
  await alice.onDashboard();
  await alice.openChat(bob);
  await expect(input).toHaveValue('Half a thought');
  await input.press('Enter');
  await alice.sees('Half a thought');
  await alice.page.waitForTimeout(1_000);
  await alice.page.reload();
  await alice.onDashboard();
  await alice.openChat(bob);
  await alice.sees('Half a thought');
  await expect(input).toHaveValue('');
});

test('forms that need a connection open without one, and say so', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  await alice.signUp();
  await appIsKept(alice.page);
  await alice.logOut();
  await context.setOffline(true);
  for (const path of ['/login', '/signup']) {
    await alice.page.goto(path);
    // Some versions of Chromium forget with a navigation what `navigator.onLine` is to say.
    await context.setOffline(false);
    await context.setOffline(true);
    await expect(
      alice.page.getByText('You are offline. Logging in and signing up need a connection.'),
    ).toBeVisible();
  }
  await context.setOffline(false);
  await expect(alice.page.getByText('You are offline.')).toHaveCount(0);
  await alice.logIn();
});

test('the app can be installed', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice');
  await alice.signUp();
  await appIsKept(alice.page);
  const devtools = await context.newCDPSession(alice.page);
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
  // A profile of Playwright's is one that forgets; that aside, nothing stands in the way.
  expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
  const { errors, data } = await devtools.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  expect(JSON.parse(data ?? '')).toMatchObject({ start_url: '/dashboard', display: 'standalone' });
});
