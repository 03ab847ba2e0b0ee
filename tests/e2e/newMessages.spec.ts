import type { Page } from '@playwright/test';
import { twoFriends } from './support/friends.ts';
import { expect, test } from './support/test.ts';

/** As if another tab were in front of this one; a browser in a test shows all of its tabs. */
async function setInFront(page: Page, isInFront: boolean): Promise<void> {
  await page.evaluate((visible) => {
    Object.defineProperties(document, {
      hidden: { configurable: true, get: () => !visible },
      visibilityState: { configurable: true, get: () => (visible ? 'visible' : 'hidden') },
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isInFront);
}

test('the line of new messages stands above what came while one was away, until one watches or writes', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const line = alice.page.getByText('New messages', { exact: true });
  const stands = (above: string) =>
    expect(alice.messages.getByRole('listitem').filter({ has: line })).toContainText(above);
  await alice.openChat(bob);
  await bob.openChat(alice);

  await test.step('not for what comes before the eyes, the very first message included', async () => {
    await bob.send('Is this on?');
    await alice.sees('Is this on?');
    await bob.send('It seems so.');
    await alice.sees('It seems so.');
    await expect(line).toHaveCount(0);
  });

  await test.step('in a tab that was out of sight, until more comes that is watched', async () => {
    await setInFront(alice.page, false);
    await bob.send('While you look elsewhere.');
    await alice.sees('While you look elsewhere.');
    await expect(line).toHaveCount(0);
    await setInFront(alice.page, true);
    await stands('While you look elsewhere.');
    await bob.send('And now you look.');
    await alice.sees('And now you look.');
    await expect(line).toHaveCount(0);
  });

  await test.step('in a chat that is opened, until one writes', async () => {
    await alice.tab('Contacts').click();
    await bob.send('One behind your back.');
    await bob.send('Another.');
    await expect(alice.tab('Messages')).toHaveAccessibleName(/2 unread messages/);
    await alice.openChat(bob);
    await stands('One behind your back.');
    await expect(line).toHaveCount(1);
    await alice.send('Here I am.');
    await expect(line).toHaveCount(0);
    await bob.sees('Here I am.');
  });

  await test.step('in a chat that is opened, until more comes that is watched', async () => {
    await alice.tab('Contacts').click();
    await bob.send('And a third.');
    await expect(alice.tab('Messages')).toHaveAccessibleName(/1 unread message/);
    await alice.openChat(bob);
    await stands('And a third.');
    await bob.send('Now I see you.');
    await alice.sees('Now I see you.');
    await expect(line).toHaveCount(0);
    await alice.tab('Contacts').click();
    await alice.openChat(bob);
    await alice.sees('Now I see you.');
    await expect(line).toHaveCount(0);
  });
});
