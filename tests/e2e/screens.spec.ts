import type { Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { becomeContacts } from './support/person.ts';
import { expect, test } from './support/test.ts';
import { breakTimes, goTo } from './support/tour.ts';

const widths = [360, 768, 1440] as const;
const schemes = ['light', 'dark'] as const;

/** Both themes at every width, compared with the pictures kept; and axe, which must find nothing in either theme. */
async function looksRight(page: Page, name: string): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of widths) {
      await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
      await page.evaluate(async () => {
        await document.fonts.ready;
        // When it is differs from run to run; how it is written stays.
        for (const time of document.querySelectorAll('time')) {
          time.textContent = time.textContent
            .replace(/\d+:\d\d\s[AP]M/u, '9:41 AM')
            .replace(/\w+day, \w+ \d+, \d{4}/u, 'Saturday, March 14, 2026')
            .replace(/^\w+ \d+, \d{4}/u, 'March 14, 2026');
        }
      });
      await expect(page).toHaveScreenshot(`${name}-${width}-${colorScheme}.png`, {
        animations: 'disabled',
        caret: 'hide',
        maxDiffPixelRatio: 0.005,
      });
    }
    await findsNoBarriers(page, colorScheme === 'light' ? 'all' : 'theme');
  }
}

test('what a visitor sees', async ({ newBrowser }) => {
  const { person: visitor } = await newBrowser('visitor');
  const { page } = visitor;
  for (const [path, name] of [
    ['/', 'landing'],
    ['/login', 'login'],
    ['/signup', 'signup'],
    ['/contact', 'contact'],
    ['/privacy-policy', 'privacy-policy'],
    ['/terms', 'terms'],
    ['/about', 'about'],
  ] as const) {
    await goTo(page, path);
    await looksRight(page, name);
  }
  await page.goto('/login');
  await page.getByLabel('Username').fill('nobody');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Log In' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await looksRight(page, 'login-refused');
});

test('what somebody new sees', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  await looksRight(alice.page, 'messages-empty');
  for (const tab of ['Groups', 'Contacts', 'Profile'] as const) {
    await alice.tab(tab).click();
    await looksRight(alice.page, `${tab.toLowerCase()}-empty`);
  }
  await alice.page.getByRole('button', { name: 'Edit Profile' }).click();
  await looksRight(alice.page, 'profile-edit');
  await alice.page.getByRole('button', { name: 'Change password' }).click();
  await expect(alice.prompt.getByLabel('Current password')).toBeFocused();
  await looksRight(alice.page, 'change-password');
  await alice.page.keyboard.press('Escape');
  await alice.tab('Contacts').click();
  await alice.page.getByRole('button', { name: 'Find Users' }).click();
  await looksRight(alice.page, 'find-users');
});

test('what people in a group see', async ({ newBrowser }) => {
  const { person: aino } = await newBrowser('aino');
  const { person: kaisa } = await newBrowser('kaisa');
  await aino.signUp();
  await kaisa.signUp();
  await becomeContacts(kaisa, aino);
  await kaisa.tab('Messages').click();
  await kaisa.page.getByRole('button', { name: /^Notifications/ }).click();
  await expect(kaisa.page.getByRole('dialog').getByText('aino accepted your contact request')).toBeVisible();
  await expect(kaisa.toast('Contact request sent successfully')).toHaveCount(0);
  await looksRight(kaisa.page, 'notifications');
  await kaisa.page.keyboard.press('Escape');

  await aino.tab('Groups').click();
  await aino.page.getByRole('button', { name: 'New Group' }).click();
  await aino.page.getByLabel('Group name').fill('Saturday sailors');
  await expect(aino.toast('Contact request accepted successfully!')).toHaveCount(0);
  await looksRight(aino.page, 'group-form');
  await aino.page.getByRole('button', { name: 'Create Group' }).click();
  await expect(aino.toast('Group "Saturday sailors" created successfully!')).toBeVisible();
  await expect(aino.toast('Group "Saturday sailors" created successfully!')).toHaveCount(0);
  await looksRight(aino.page, 'group-empty');
  await aino.openDetails();
  await looksRight(aino.page, 'group-details-creator');

  await aino.addMember(kaisa);
  await expect(aino.toast('kaisa added to the group!')).toHaveCount(0);
  await kaisa.openGroup('Saturday sailors');
  await aino.send('The forecast says six metres a second from the south-west.');
  await kaisa.sees('The forecast says six metres a second from the south-west.');
  await kaisa.send('Good enough for the outer islands?');
  await kaisa.send('I bring the charts.');
  await aino.sees('I bring the charts.');
  await aino.send('More than good enough. We leave the harbour at nine.');
  await kaisa.sees('More than good enough. We leave the harbour at nine.');
  await aino.page.getByRole('button', { name: 'Close details' }).click();
  // Nothing under the pointer.
  await aino.page.mouse.move(0, 0);
  await looksRight(aino.page, 'group-chat');
  await kaisa.openDetails();
  await kaisa.page.mouse.move(0, 0);
  await looksRight(kaisa.page, 'group-details-member');
  await kaisa.details.getByRole('button', { name: 'Leave Group' }).click();
  await expect(kaisa.page.getByRole('alertdialog')).toBeVisible();
  await looksRight(kaisa.page, 'group-leave');
});

test('what people in conversation see', async ({ newBrowser }) => {
  const { person: aino } = await newBrowser('aino');
  const { person: mikael } = await newBrowser('mikael');
  await aino.signUp();
  await mikael.signUp();
  await aino.requestContact(mikael);
  await mikael.tab('Contacts').click();
  await expect(mikael.page.getByRole('button', { name: 'Accept' })).toBeVisible();
  await looksRight(mikael.page, 'contacts-request');
  await mikael.acceptContact(aino);
  // Until the toast is gone.
  await expect(mikael.page.getByText('Contact request accepted successfully!')).toHaveCount(0);
  await looksRight(mikael.page, 'contacts');

  await aino.openChat(mikael);
  await looksRight(aino.page, 'chat-empty');
  await aino.send('Hei! Did the boat make it back before the storm?');
  await mikael.openChat(aino);
  await mikael.sees('Hei! Did the boat make it back before the storm?');
  await mikael.send('Just. She is moored behind the island, and the stove is lit.');
  await mikael.send('Come by on Sunday?');
  await aino.sees('Come by on Sunday?');
  await aino.send('Gladly. I bring cardamom buns, and the charts you asked for.');
  await mikael.sees('Gladly. I bring cardamom buns, and the charts you asked for.');
  // A pictograph would show which fonts the machine has.
  await mikael.send('Perfect.');
  await aino.sees('Perfect.');
  await looksRight(aino.page, 'chat');

  await aino.keepNoHistory();
  const { person: second } = await newBrowser('aino');
  await second.logIn();
  await second.page.getByRole('button', { name: 'It was me' }).click();
  await second.openChat(mikael);
  await expect(second.messages.getByText("Message couldn't be decrypted").first()).toBeVisible();
  await looksRight(second.page, 'chat-before-join');
});

test('what somebody sees whose server is out of reach, and one part of whose screen fails', async ({
  newBrowser,
}) => {
  const { person: aino, context } = await newBrowser('aino');
  await aino.signUp();
  await aino.createGroup('Saturday sailors');
  await aino.send('We leave the harbour at nine.');
  await expect(aino.toast('Group "Saturday sailors" created successfully!')).toHaveCount(0);
  await context.setOffline(true);
  await expect(aino.page.getByRole('banner')).toContainText('Offline: what you write is sent later');
  await looksRight(aino.page, 'offline');
  await context.setOffline(false);
  await expect(aino.page.getByRole('banner')).not.toContainText('Offline');

  await aino.page.evaluate(() => history.replaceState(null, '', '/dashboard'));
  await aino.page.reload();
  await aino.tab('Groups').click();
  await expect(aino.group('Saturday sailors')).toBeVisible();
  await breakTimes(aino.page);
  await aino.group('Saturday sailors').getByRole('button').click();
  await expect(aino.page.getByRole('alert').getByRole('button', { name: 'Try again' })).toBeVisible();
  await looksRight(aino.page, 'crashed-pane');
});
