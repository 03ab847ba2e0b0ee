import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { twoFriends } from './support/friends.ts';
import { Person } from './support/person.ts';
import { RunningRelay } from './support/relay.ts';
import { expect, test } from './support/test.ts';

const builtClient = process.env.WEB_DIR ?? join(import.meta.dirname, '..', '..', 'dist');
const offlineLine = 'Offline: what you write is sent later';

/** Until the browser has everything that it needs to open the app by itself. */
async function appIsKept(page: Page): Promise<void> {
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
}

const header = (page: Page) => page.getByRole('banner');

test('opens offline, keeps what is written, and catches up in order', async ({ newBrowser }) => {
  const { alice, aliceBrowser, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await bob.openChat(alice);
  await alice.send('While both were here.');
  await bob.sees('While both were here.');
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

test('can be installed', async ({ newBrowser }) => {
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

test.describe('with a client of its own', () => {
  let webDir: string;
  let relay: RunningRelay;

  test.beforeEach(async () => {
    webDir = await mkdtemp(join(tmpdir(), 'sinetti-web-'));
    await cp(builtClient, webDir, { recursive: true });
    relay = await RunningRelay.start({ WEB_DIR: webDir });
  });
  test.afterEach(async () => {
    await relay.stop();
    await rm(webDir, { recursive: true });
  });

  test('a file that is not what was built is refused, and the app works from the network', async ({
    browser,
  }) => {
    const [changed = ''] = (await readdir(join(webDir, 'app', 'assets'))).filter((name) =>
      /^TermsPage-.*\.js$/.test(name),
    );
    await writeFile(
      join(webDir, 'app', 'assets', changed),
      'export const TermsPage = () => "changed on the way";',
    );
    await rm(join(webDir, 'app', 'assets', `${changed}.br`), { force: true });
    const context = await browser.newContext({ baseURL: relay.url });
    const alice = await Person.in(context, 'alice');
    const lines: string[] = [];
    alice.page.on('console', (line) => lines.push(line.text()));
    await alice.signUp();
    await expect.poll(() => lines.find((line) => line.includes('hash-mismatch'))).toContain('update-failed');
    await expect
      .poll(() =>
        alice.page.evaluate(async () => {
          const registration = await navigator.serviceWorker.getRegistration();
          return [registration?.installing, registration?.waiting, registration?.active].some(Boolean);
        }),
      )
      .toBe(false);
    await context.close();
  });

  test('a new version waits until the person wants it, and then is the only one', async ({ browser }) => {
    const context = await browser.newContext({ baseURL: relay.url });
    const alice = await Person.in(context, 'alice');
    await alice.signUp();
    await appIsKept(alice.page);
    await alice.page.reload();
    await alice.onDashboard();
    const offer = alice.page.getByRole('region', { name: 'Recovery key' });
    await expect(offer).toBeVisible();

    await release(webDir);
    await alice.page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
    const bar = alice.page.getByRole('status').filter({ hasText: 'A new version is ready' });
    await expect(bar).toBeVisible();
    // The less urgent waits.
    await expect(offer).toHaveCount(0);
    const otherTab = await context.newPage();
    await otherTab.goto('/dashboard');
    const versionOf = (page: Page) => page.locator('html').getAttribute('data-version');
    expect(await versionOf(otherTab)).toBeNull();

    // The other tab is still loading: what it asks for may start the version in use again while that is being stopped.
    await bar.getByRole('button', { name: 'Reload' }).click();
    for (const page of [alice.page, otherTab]) {
      await expect(page.locator('html')).toHaveAttribute('data-version', 'next', { timeout: 30_000 });
    }
    await alice.onDashboard();
    await expect(offer).toBeVisible();
    expect(await alice.page.evaluate(() => caches.keys())).toHaveLength(1);
    await context.close();
  });
});

/** What a build with another page would have laid there. */
async function release(webDir: string): Promise<void> {
  const page = join(webDir, 'app', 'index.html');
  const worker = join(webDir, 'app', 'service-worker.js');
  const before = await readFile(page, 'utf8');
  const after = before.replace('<html ', '<html data-version="next" ');
  const script = await readFile(worker, 'utf8');
  const [, version = ''] = /version:`([0-9a-f]{16})`/.exec(script) ?? [];
  await writeFile(page, after);
  await rm(`${page}.br`, { force: true });
  await writeFile(
    worker,
    script.replace(sha256(before), sha256(after)).replace(version, sha256(version).slice(0, 16)),
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
