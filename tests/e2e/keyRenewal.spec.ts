import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import { fits } from './support/layout.ts';
import { expect, test } from './support/test.ts';

test('removing a device renews the keys, which another browser takes over by the password', async ({
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

  // One of the two others is out, whichever was listed first, and the other one is asked for the password.
  const out = 'removed from your account';
  const [kept] = await Promise.race(
    [desk, lost].map(async (person, i, both) => {
      await expect(person.page.getByRole('alert')).toContainText(out);
      return [both[1 - i] ?? person] as const;
    }),
  );
  const { page } = kept;
  await page.getByRole('button', { name: 'It was me' }).click();
  const notice = page.getByRole('region', { name: 'Renewed keys' });
  await expect(notice).toBeVisible();
  await findsNoBarriers(page);
  await fits(page);
  await notice.getByRole('button', { name: 'Confirm' }).click();
  await kept.confirmWithPassword();
  await expect(notice).toHaveCount(0);

  // What is sealed from then on opens in both browsers that are left, and in one that logs in later.
  await bob.send('For those who are left.');
  await alice.openChat(bob);
  await alice.sees('For those who are left.');
  await kept.openChat(bob);
  await kept.sees('For those who are left.');
  const { person: fresh } = await newBrowser('alice');
  await fresh.logIn();
  await fresh.openChat(bob);
  await fresh.sees('Before the phone was lost.', 'For those who are left.');
  await expect(fresh.page.getByRole('region', { name: 'Renewed keys' })).toHaveCount(0);
});
