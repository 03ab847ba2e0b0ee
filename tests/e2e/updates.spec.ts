import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { appIsKept, layNextApp } from './support/built.ts';
import { Person } from './support/person.ts';
import { RunningRelay } from './support/relay.ts';
import { expect, test } from './support/test.ts';

let webDir: string;
let relay: RunningRelay;

test.beforeEach(async () => {
  relay = await RunningRelay.start();
  // The relay serves its own copy of the built client.
  const copies = join(relay.dataDir, 'web');
  const [copy = ''] = await readdir(copies);
  webDir = join(copies, copy);
});
test.afterEach(() => relay.stop());

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

  await layNextApp(webDir);
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
