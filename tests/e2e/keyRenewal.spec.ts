import type { Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { cutMqtt, twoFriends } from './support/friends.ts';
import { fits } from './support/layout.ts';
import { expect, test } from './support/test.ts';

const noticeOf = (page: Page) => page.getByRole('region', { name: 'Renewed keys' });

/** Notes from now on whether the person is asked for the password because of renewed keys, however briefly. */
async function watchForNotice(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate(() => {
    const root = document.documentElement;
    new MutationObserver(() => {
      if (document.querySelector('[aria-label="Renewed keys"]') !== null) root.dataset.asked = 'yes';
    }).observe(document.body, { childList: true, subtree: true });
  });
  return () => page.evaluate(() => document.documentElement.dataset.asked === 'yes');
}

test('removing a device renews the keys, which another browser of the person has by itself', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const { person: desk } = await newBrowser('alice');
  const { person: lost } = await newBrowser('alice');
  await desk.logIn();
  await lost.logIn();
  await alice.openChat(bob);
  await bob.openChat(alice);
  await alice.send('Before the phone was lost.');
  await bob.sees('Before the phone was lost.');

  const wasAsked = new Map([
    [desk, await watchForNotice(desk.page)],
    [lost, await watchForNotice(lost.page)],
  ]);
  await alice.tab('Profile').click();
  const devices = alice.page.getByRole('region', { name: 'Devices' });
  await expect(devices.getByRole('button', { name: /^Remove (?!device)/ })).toHaveCount(2);
  await devices
    .getByRole('button', { name: /^Remove (?!device)/ })
    .first()
    .click();
  await alice.page.getByRole('button', { name: 'Remove device' }).click();
  await alice.confirmWithPassword();
  await expect(devices.getByRole('button', { name: /^Remove (?!device)/ })).toHaveCount(1);

  // One of the two others is out, whichever was listed first. The other one is asked nothing but who it was.
  const out = 'removed from your account';
  const [kept] = await Promise.race(
    [desk, lost].map(async (person, i, both) => {
      await expect(person.page.getByRole('alert')).toContainText(out);
      return [both[1 - i] ?? person] as const;
    }),
  );
  await kept.page.getByRole('button', { name: 'It was me' }).click();
  await kept.openChat(bob);
  await expect(noticeOf(kept.page)).toHaveCount(0);

  // Its copies go on under the new keys, which only they are left by from here on: a browser that logs in later reads them.
  await alice.page.close();
  const copied = kept.page.waitForResponse(
    (response) => response.url().includes('/history') && response.request().method() === 'PUT',
  );
  await bob.send('For those who are left.');
  await kept.sees('For those who are left.');
  expect((await copied).ok()).toBe(true);
  const { person: fresh } = await newBrowser('alice');
  await fresh.logIn();
  await fresh.openChat(bob);
  await fresh.sees('Before the phone was lost.', 'For those who are left.');
  for (const { page } of [kept, fresh]) await expect(noticeOf(page)).toHaveCount(0);
  expect(await wasAsked.get(kept)?.()).toBe(false);
});

test('where the other browsers cannot give the new keys, the password does', async ({ newBrowser }) => {
  const { alice, aliceBrowser } = await twoFriends(newBrowser, { withMqtt: true });
  const { person: desk } = await newBrowser('alice');
  await desk.logIn();
  // Nothing that Alice's browser says among her devices gets through.
  await aliceBrowser.route(/\/self%3A/, (route) => route.abort());
  await aliceBrowser.route(/\/messages\/user\//, (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  );
  await cutMqtt(aliceBrowser);
  await alice.page.reload();
  await alice.tab('Profile').click();
  await alice.page.getByRole('button', { name: 'Create a recovery key' }).click();
  await alice.keepRecoveryKey();
  const { page } = desk;
  await expect(page.getByText(/^A recovery key was set up on Chrome on Linux, .+\./)).toBeVisible();
  await page.getByRole('button', { name: 'Not me' }).click();
  const wayOut = page.getByRole('region', { name: 'After a theft' });
  await expect(wayOut).toBeFocused();
  await expect(wayOut.getByRole('button', { name: 'Move on to a new key' })).toBeInViewport();
  await page.getByRole('button', { name: 'It was me' }).click();
  await expect(noticeOf(page)).toBeVisible();
  await findsNoBarriers(page);
  await fits(page);
  await noticeOf(page).getByRole('button', { name: 'Confirm' }).click();
  await desk.confirmWithPassword();
  await expect(noticeOf(page)).toHaveCount(0);
});
