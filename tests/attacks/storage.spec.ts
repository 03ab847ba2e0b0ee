import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from '@playwright/test';
import { wholeBrowser } from '../e2e/browser.mjs';
import { becomeContacts, Person } from '../e2e/support/person.ts';
import { pastePhotograph } from '../e2e/support/photograph.ts';
import { expect, test } from '../e2e/support/test.ts';
import { findSecrets, type Secret } from '../integration/support/scan.ts';

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
      // The attack began with this row: it holds the key that wraps the storage key.
      session: reach(() => frame?.contentWindow?.indexedDB),
      document: frame?.contentDocument,
      caches: reach(() => frame?.contentWindow?.caches),
      kept: Object.keys(localStorage).filter((name) => /key|seed|vault|secret/i.test(name)),
    };
  });
  expect(found).toEqual({
    databases: [],
    session: 'SecurityError',
    document: null,
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
  expect(await response.headerValue('integrity-policy')).toBe('blocked-destinations=(script)');
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
  const kept = await page.evaluate(() => Object.fromEntries(Object.entries(localStorage)));
  await alice.tab('Profile').click();
  await page.getByRole('button', { name: 'Change password' }).click();
  await alice.prompt.getByLabel('Current password').fill(alice.password);
  await alice.prompt.getByLabel('New password', { exact: true }).fill('another horse battery');
  await alice.prompt.getByLabel('New password again').fill('another horse battery');
  const keys = page.frames().find((frame) => frame.url().endsWith('/keys'));
  // The worker is busy with the old password when the person leaves.
  await keys?.evaluate(() => document.querySelector('form')?.requestSubmit());
  await page.evaluate(() => {
    const named = (name: string) =>
      [...document.querySelectorAll('button')].find((button) =>
        [button.textContent?.trim(), button.getAttribute('aria-label')].includes(name),
      );
    setTimeout(() => named('Logout')?.click(), 150);
  });
  await expect(page).toHaveURL('/');
  const sessions = await keys?.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error ?? new Error('no answer')));
      });
    const root = await settled(indexedDB.open('sinetti'));
    const count = await settled(root.transaction('sessions').objectStore('sessions').count());
    root.close();
    return count;
  });
  expect(sessions).toBe(0);
  // A thief who has kept what the page stored opens nothing with it.
  await page.evaluate((stored) => Object.assign(localStorage, stored), kept);
  await page.goto('/dashboard');
  await expect(page).toHaveURL(/\/login/);
});

test('the profile on the disk holds nothing that was written, shown or searched', async ({
  newBrowser,
  relay,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'sinetti-profile-'));
  // The engine alone keeps no session to restore, in which the fields of a page are.
  const context = await chromium.launchPersistentContext(folder, {
    ...wholeBrowser.launchOptions,
    baseURL: relay.url,
  });
  const alice = await Person.in(context, 'alice');
  await alice.signUp();
  const { person: bob } = await newBrowser('bob');
  await bob.signUp();
  await becomeContacts(alice, bob);
  await alice.openChat(bob);
  await bob.openChat(alice);
  const input = alice.page.getByRole('textbox', { name: /^(Message to|Edit your) / });
  const menuOf = async ({ page }: Person, text: string) => {
    const bubble = page.getByRole('article').filter({ hasText: text }).first();
    await bubble.getByRole('button', { name: 'Message actions' }).click();
    return page.getByRole('menu', { name: 'Message actions' });
  };
  await alice.send('The harbourmaster keeps the second ledger.');
  await (await menuOf(alice, 'harbourmaster')).getByRole('menuitem', { name: 'Reply' }).click();
  await alice.send('He asked at the tidewater office.');
  await alice.send('We meet on the quarterdeck.');
  await input.press('ArrowUp');
  await input.fill('We meet at the binnacle.');
  await input.press('Enter');
  await bob.sees('We meet at the binnacle.');
  await alice.send('Burn the counterfeit chart.');
  await bob.sees('Burn the counterfeit chart.');
  await (await menuOf(alice, 'counterfeit')).getByRole('menuitem', { name: 'Delete' }).click();
  await alice.page.getByRole('button', { name: 'Delete for everyone' }).click();
  await expect(bob.message('Burn the counterfeit chart.')).toHaveCount(0);
  await (await menuOf(bob, 'binnacle')).getByRole('menuitemcheckbox', { name: 'React with ❤️' }).click();
  await expect(alice.page.getByText('bob reacted with ❤️ to your message')).toBeAttached();
  await input.focus();
  await pastePhotograph(alice.page);
  await alice.page.getByLabel('Description of IMG_2041.jpg').fill('A figurehead without its nose');
  await input.fill('Seen at the breakwater.');
  await alice.page.getByRole('button', { name: 'Send', exact: true }).click();
  // Whole, as this browser has drawn it and shows it again.
  await alice.page.getByRole('button', { name: 'View: A figurehead without its nose' }).click();
  const viewer = alice.page.getByRole('dialog');
  await expect(viewer.getByRole('img')).toHaveJSProperty('naturalWidth', 1200);
  await alice.page.keyboard.press('Escape');
  const picture = await downloaded(bob.page, 'View: A figurehead without its nose');
  await input.fill('An unsent line about the quicksilver.');
  await alice.tab('Contacts').click();
  await alice.page.getByRole('button', { name: 'Find Users' }).click();
  await alice.page.getByPlaceholder('Search by email or username...').fill('marmalade');
  await alice.tab('Messages').click();
  // A field that says nothing of itself, beside ours: the browser writes such a one down.
  await alice.page.evaluate(() => document.body.append(document.createElement('textarea')));
  await alice.page.locator('body > textarea').fill('The control is on the windowsill.');
  await alice.page.goto('/about');
  await expect.poll(() => foundIn(folder, [text('windowsill')])).not.toEqual([]);
  await context.close();

  const words = ['harbourmaster', 'tidewater', 'quarterdeck', 'binnacle', 'counterfeit', 'bob reacted with'];
  const shown = ['breakwater', 'figurehead', 'IMG_2041', 'quicksilver', 'marmalade', alice.password];
  const middle = picture.length / 2;
  const pixels: Secret = { name: 'the picture', bytes: picture.subarray(middle, middle + 48) };
  expect(await foundIn(folder, [...words, ...shown].map(text).concat(pixels))).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

const text = (sought: string): Secret => ({ name: sought, bytes: Buffer.from(sought) });

/** The file behind a picture of the open chat. */
async function downloaded(page: Page, view: string): Promise<Buffer> {
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  await page.getByRole('button', { name: view }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
  ]);
  return readFile(await download.path());
}

/** Names what is found in the files of a folder, with the file: as it is, in UTF-16, or inside hexadecimal or base64. */
async function foundIn(folder: string, secrets: readonly Secret[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    // The browser deletes files while it runs.
    const content = await readFile(join(parentPath, name)).catch(() => Buffer.alloc(0));
    for (const secret of findSecrets(content, secrets)) found.push(`${secret} in ${name}`);
  }
  return found;
}

test.describe('a stranger', () => {
  test.use({ mayBeForbidden: true });

  test('gets no frame of the keys', async ({ newBrowser }) => {
    const { person: alice } = await newBrowser('alice');
    await alice.signUp();
    const keysUrl =
      alice.page
        .frames()
        .find((frame) => frame.url().endsWith('/keys'))
        ?.url() ?? '';
    const stranger = await alice.page.context().newPage();
    // This stranger is of the same site as the keys, on a port of its own: only their policy is in its way.
    const address = 'http://localhost:9/stranger';
    await stranger.route(address, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${keysUrl}"></iframe>` }),
    );
    await stranger.goto(address, { waitUntil: 'load' });
    await expect.poll(() => stranger.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');
    expect(stranger.workers()).toEqual([]);
  });
});
