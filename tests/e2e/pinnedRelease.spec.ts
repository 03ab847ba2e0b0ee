import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import {
  keep,
  layNext,
  lookForUpdate,
  type SignedReleases,
  signedReleases,
  stranger,
  versionOf,
} from './support/signedReleases.ts';
import { expect, test as withoutRelease } from './support/test.ts';

const test = withoutRelease.extend<SignedReleases>(signedReleases);

/** Has the page /prove compare its files. @returns the part of the page that says what came of it */
async function compareFiles(page: Page): Promise<Locator> {
  await page.goto('/prove');
  const files = page.getByRole('region', { name: 'The files of this page' });
  await files.getByRole('button', { name: 'Compare the files' }).click();
  await expect(files.getByRole('button', { name: 'Compare again' })).toBeVisible();
  return files;
}

test('a signed release comes into use once the person has agreed to it, and to its key room by itself; an older one doesn’t', async ({
  newBrowser,
  served,
}) => {
  const { context, person: alice } = await newBrowser('alice');
  await keep(alice);
  await layNext(served);
  await lookForUpdate(alice.page);
  const bar = alice.page.getByRole('status').filter({ hasText: 'Version 1.4.0 is here.' });
  await expect(bar).toContainText('App: changed. Key room: changed.');

  await test.step('until then the former one is served, offline too', async () => {
    await context.setOffline(true);
    await alice.page.reload();
    await alice.onDashboard();
    expect(await versionOf(alice.page)).toBeNull();
    await context.setOffline(false);
    await lookForUpdate(alice.page);
  });

  await test.step('the page compares its files with the release in use, and the newer one is no alarm', async () => {
    const files = await compareFiles(alice.page);
    await expect(files.getByText(/^All \d{2,} files are those of release 1\.0\.0\.$/)).toBeVisible();
    await expect(files.getByText('The server has a newer release, 1.4.0.')).toBeVisible();
    await expect(files.getByText(/^\/index\.html is the page in use/)).toBeVisible();
    await expect(files.getByRole('alert')).toHaveCount(0);
    await files.getByRole('button', { name: /files and their hashes/ }).click();
    const item = (path: string) => files.getByRole('listitem').filter({ hasText: path });
    await expect(item('/index.html')).toContainText('As released');
    await expect(item('/service-worker.js')).toContainText('As in the release that the server states now');
    await alice.page.goto('/dashboard');
    await alice.onDashboard();
  });

  await test.step('the key room is asked about in its own words', async () => {
    await bar.getByRole('button', { name: 'Use it' }).click();
    const question = alice.page.getByRole('status').filter({ hasText: 'The key room changes as well.' });
    await expect(question).toBeVisible();
    expect(await versionOf(alice.page)).toBeNull();
    await question.getByRole('button', { name: 'Change the key room' }).click();
    await expect(alice.page.locator('html')).toHaveAttribute('data-version', 'next');
    await alice.onDashboard();
  });

  await test.step('a relay that goes back to the former one is told of in a sentence', async () => {
    await served.goBack();
    await lookForUpdate(alice.page);
    await expect(
      alice.page.getByRole('status').filter({ hasText: 'This server has gone back to an older version' }),
    ).toBeVisible();
    await alice.page.reload();
    await alice.onDashboard();
    expect(await versionOf(alice.page)).toBe('next');
  });

  await test.step('a byte that is another is named to a visitor whose browser keeps nothing', async () => {
    const { person: visitor } = await newBrowser('visitor', { serviceWorkers: 'block' });
    const assets = join(served.folder, 'app/assets');
    const styles = (await readdir(assets)).find((name) => /^ProveRoute-.*\.css$/.test(name)) ?? '';
    await writeFile(join(assets, styles), `${await readFile(join(assets, styles), 'utf8')}\n`);
    await rm(join(assets, `${styles}.br`));
    const files = await compareFiles(visitor.page);
    await expect(files.getByRole('alert')).toContainText('1 file is not what release 1.0.0 says.');
    await expect(files.getByRole('listitem')).toHaveCount(1);
    await expect(files.getByRole('listitem')).toContainText(`/assets/${styles}`);
  });
});

const lockPage = (page: Page) =>
  page.getByRole('heading', { name: 'Something that isn’t this app has taken its place' });

test('a service worker of the relay’s own locks the keys in each tab, and a whole page says so', async ({
  newBrowser,
  served,
}) => {
  const { context, person: alice } = await newBrowser('alice');
  await keep(alice);
  const otherTab = await context.newPage();
  await otherTab.goto('/dashboard');
  await writeFile(join(served.folder, 'app/service-worker.js'), stranger);
  await lookForUpdate(alice.page);
  for (const page of [alice.page, otherTab]) {
    await expect(lockPage(page)).toBeVisible();
    await expect(page.locator('#keys, #root')).toHaveCount(0);
  }
});

test('a service worker of the relay’s own at the origin of the keys does so too', async ({
  newBrowser,
  served,
}) => {
  const { person: alice } = await newBrowser('alice');
  await keep(alice);
  await writeFile(join(served.folder, 'keys/service-worker.js'), stranger);
  await alice.page.reload();
  await expect(lockPage(alice.page)).toBeVisible();
  await expect(alice.page.locator('#keys, #root')).toHaveCount(0);
});
