import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import {
  keep,
  layNext,
  lookForUpdate,
  type SignedReleases,
  signedReleases,
  versionOf,
} from './support/signedReleases.ts';
import { expect, test as withoutRelease } from './support/test.ts';

const test = withoutRelease.extend<SignedReleases>(signedReleases);

const sentences = {
  incomplete: 'Not all of the new version could be downloaded.',
  rollback: 'This server has gone back to an older version',
  different: 'What this server serves is not a signed version.',
  question: 'Version 1.4.0 is here.',
} as const;

/** The bar with that sentence, which is the only one of all. */
async function barOf(page: Page, name: keyof typeof sentences) {
  const bar = page.getByRole('status').filter({ hasText: sentences[name] });
  await expect(bar).toBeVisible();
  for (const [other, text] of Object.entries(sentences))
    if (other !== name) await expect(page.getByText(text)).toHaveCount(0);
  return bar;
}

/** No bar of a release is there, and none comes while the relay is looked at once more. */
async function nothingIsTold(page: Page): Promise<void> {
  await lookForUpdate(page);
  for (const text of Object.values(sentences)) await expect(page.getByText(text)).toHaveCount(0);
}

async function agree(page: Page): Promise<void> {
  const bar = await barOf(page, 'question');
  await bar.getByRole('button', { name: 'Use it' }).click();
  await page.getByRole('button', { name: 'Change the key room' }).click();
}

test('a key room that breaks off or is refused is told of in the one sentence that is true, whatever the app’s origin serves', async ({
  newBrowser,
  served,
}) => {
  const { person: alice } = await newBrowser('alice');
  const { page } = alice;
  await keep(alice);

  await test.step('a download of the key room that breaks off says so after the person’s word, and comes later', async () => {
    await layNext(served);
    const assets = join(served.folder, 'keys/assets');
    const styles = join(assets, (await readdir(assets)).find((name) => /^keys-.*\.css$/.test(name)) ?? '');
    await rename(styles, `${styles}.away`);
    await lookForUpdate(page);
    await agree(page);
    const bar = await barOf(page, 'incomplete');
    expect(await versionOf(page)).toBeNull();
    await rename(`${styles}.away`, styles);
    await bar.getByRole('button', { name: 'OK' }).click();
    await agree(page);
    await expect(page.locator('html')).toHaveAttribute('data-version', 'next');
    await alice.onDashboard();
  });

  await test.step('an older release at the origin of the keys alone is told of', async () => {
    await served.goBack('keys');
    await page.reload();
    await alice.onDashboard();
    const bar = await barOf(page, 'rollback');
    expect(await versionOf(page)).toBe('next');
    await bar.getByRole('button', { name: 'OK' }).click();
    await nothingIsTold(page);
  });

  await test.step('at both origins it is one sentence, read once', async () => {
    await served.goBack();
    await page.reload();
    await alice.onDashboard();
    const bar = await barOf(page, 'rollback');
    await bar.getByRole('button', { name: 'For the operator' }).click();
    await expect(bar.locator('code')).not.toHaveCount(0);
    await bar.getByRole('button', { name: 'OK' }).click();
    await nothingIsTold(page);
  });
});
