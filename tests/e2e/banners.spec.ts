import type { Page } from '@playwright/test';
import { expect, test } from './support/test.ts';

const banners = {
  offer: 'Keep a recovery key.',
  device: 'New device signed in',
  offline: 'Offline: what you write is sent later',
  connection: 'Connection error.',
} as const;

/** Returns the texts in the head of the page, from above to below. */
async function saidBy(page: Page): Promise<readonly string[]> {
  const head = await page.getByRole('banner').innerText();
  return Object.entries(banners)
    .filter(([, text]) => head.includes(text))
    .map(([name]) => name);
}

test('of several banners the most urgent is shown, and the next when it has gone', async ({ newBrowser }) => {
  const { person: alice, context } = await newBrowser('alice', { viewport: { width: 360, height: 740 } });
  const { page } = alice;
  const shows = (...names: (keyof typeof banners)[]) => expect.poll(() => saidBy(page)).toEqual(names);
  await alice.signUp();
  await alice.createGroup('Sailors');
  await page.getByRole('button', { name: 'Back to groups' }).click();
  await shows('offer');

  const { person: elsewhere } = await newBrowser('alice');
  await elsewhere.logIn();
  await shows('device');
  await context.setOffline(true);
  await shows('offline');
  await context.setOffline(false);
  await shows('device');
  await page.getByRole('button', { name: 'It was me' }).click();
  await shows('offer');

  await test.step('a session that has gone outdoes them all', async () => {
    await page.evaluate(() => localStorage.removeItem('token'));
    await alice.group('Sailors').getByRole('button').click();
    await shows('connection');
  });
});
