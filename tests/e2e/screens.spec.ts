import { Buffer } from 'node:buffer';
import type { Page, WebSocketRoute } from '@playwright/test';
import { wholeBrowser } from './browser.mjs';
import { findsNoBarriers } from './support/axe.ts';
import { reads, whileFailing } from './support/failing.ts';
import { becomeContacts, type Person } from './support/person.ts';
import { pastePhotograph } from './support/photograph.ts';
import { expect, test } from './support/test.ts';
import { breakTimes, goTo } from './support/tour.ts';

// The engine alone draws them otherwise, and has no microphone.
test.use(wholeBrowser);

const widths = [360, 768, 1440] as const;
const schemes = ['light', 'dark'] as const;
const maxDiffPixels = 1300;

/**
 * Both themes at every width, compared with the pictures kept; and axe, which must find nothing in either theme.
 * @param heights of the window, on a phone and wider
 */
async function looksRight(page: Page, name: string, heights = { phone: 740, wide: 900 }): Promise<void> {
  // Nothing is under the pointer.
  await page.mouse.move(0, 0);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of widths) {
      await page.setViewportSize({ width, height: width === 360 ? heights.phone : heights.wide });
      await page.evaluate(async () => {
        await document.fonts.ready;
        // When it is differs from run to run; how it is written stays.
        for (const time of document.querySelectorAll('time')) {
          time.textContent = time.textContent
            .replace(/\d+:\d\d\s[AP]M/u, '9:41 AM')
            .replace(/\w+day, \w+ \d+, \d{4}/u, 'Saturday, March 14, 2026')
            .replace(/^\w+ \d+, \d{4}/u, 'March 14, 2026');
        }
        // A microphone beeps when it likes.
        for (const position of document.querySelectorAll('input[type=range]')) {
          const waves = [...(position.parentElement?.querySelectorAll('path') ?? [])];
          for (const wave of waves) {
            let at = 0;
            wave.setAttribute(
              'd',
              (wave.getAttribute('d') ?? '').replace(/M(\d+) [\d.]+V[\d.]+/gu, (_, x: string) => {
                at += 1;
                const half = 2 + Math.abs(Math.sin(at / 2) * Math.sin(at / 9)) * 13;
                return `M${x} ${16 - half}V${16 + half}`;
              }),
            );
          }
          const length = position.parentElement?.nextElementSibling;
          if (length instanceof HTMLElement && waves.length > 0) length.textContent = '0:02';
        }
      });
      await expect(page).toHaveScreenshot(`${name}-${width}-${colorScheme}.png`, {
        animations: 'disabled',
        caret: 'hide',
        // The smallest icon that goes missing is more.
        maxDiffPixels,
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
  await looksRight(aino.page, 'group-chat');
  await kaisa.openDetails();
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
  const bell = ({ page }: Person) => page.getByRole('button', { name: /^Notifications/ });
  await expect(bell(mikael)).toHaveAccessibleName('Notifications, 1 unread');
  await looksRight(mikael.page, 'contacts-request');
  await mikael.acceptContact(aino);
  // Until the toast is gone.
  await expect(mikael.page.getByText('Contact request accepted successfully!')).toHaveCount(0);
  await expect(bell(mikael)).toHaveAccessibleName('Notifications');
  await expect(mikael.page.getByText('Online')).toBeVisible();
  await looksRight(mikael.page, 'contacts');

  await aino.openChat(mikael);
  await expect(bell(aino)).toHaveAccessibleName('Notifications, 1 unread');
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
  await expect(aino.bubbles('Gladly. I bring').getByTitle('Read')).toBeVisible();
  await looksRight(aino.page, 'chat');

  await aino.keepNoHistory();
  const { person: second } = await newBrowser('aino');
  await second.logIn();
  await second.page.getByRole('button', { name: 'It was me' }).click();
  await second.openChat(mikael);
  await expect(second.messages.getByText("Message couldn't be decrypted").first()).toBeVisible();
  await looksRight(second.page, 'chat-before-join');
});

test('what people see who answer, react, edit, pin and send files', async ({ newBrowser }) => {
  const { person: aino, context: ainosBrowser } = await newBrowser('aino');
  const { person: mikael } = await newBrowser('mikael', { permissions: ['microphone'] });
  const line: { isCut: boolean; now: WebSocketRoute | null } = { isCut: false, now: null };
  await ainosBrowser.routeWebSocket(/\/mqtt$/, (socket) => {
    line.now = socket;
    if (line.isCut) void socket.close();
    else socket.connectToServer();
  });
  await aino.signUp();
  await mikael.signUp();
  await becomeContacts(mikael, aino);
  await aino.page.getByRole('button', { name: 'Later' }).click();
  await aino.openChat(mikael);
  await mikael.openChat(aino);

  await aino.send('Hei! Did the boat make it back before the storm?');
  await mikael.sees('Hei! Did the boat make it back before the storm?');
  await mikael.page.getByRole('textbox', { name: 'Message to aino' }).focus();
  await pastePhotograph(mikael.page);
  await mikael.page.getByLabel('Description of IMG_2041.jpg').fill('A boat on a lake, in the evening');
  await mikael.page.getByRole('textbox', { name: 'Message to aino' }).fill('Just. Look at that evening.');
  await mikael.page.getByRole('button', { name: 'Send', exact: true }).click();
  const picture = aino.page.getByRole('img', { name: 'A boat on a lake, in the evening' });
  await expect(picture).toHaveJSProperty('naturalWidth', 1200);
  await aino.react('Just. Look at that evening.', '❤️');
  await aino.send('And the new sail has held!');
  await mikael.sees('And the new sail has held!');

  await mikael.page.getByRole('button', { name: 'Record a voice message' }).click();
  await expect(mikael.page.getByRole('timer')).toHaveText('0:02');
  await mikael.page.getByRole('button', { name: 'Send the voice message' }).click();
  await expect(aino.page.getByRole('button', { name: 'Play: Voice message' })).toBeVisible();
  await mikael.send('Nobody reads this any more.');
  await mikael.choose('Nobody reads this any more.', 'Delete');
  await mikael.page.getByRole('button', { name: 'Delete for everyone' }).click();
  await expect(aino.messages.getByText('Message deleted')).toBeVisible();
  await mikael.send('Come by on Sunday?');
  await mikael.page.keyboard.press('ArrowUp');
  await mikael.page.getByRole('textbox', { name: /^Edit your/ }).fill('Come by on Sunday at noon?');
  await mikael.page.keyboard.press('Enter');
  await expect(aino.bubbles('Come by on Sunday at noon?')).toContainText('edited');
  await aino.choose('Come by on Sunday at noon?', 'Reply');
  await aino.page
    .getByRole('textbox', { name: 'Message to mikael' })
    .fill('Gladly, with the charts you asked for.');
  await aino.sendFile({
    name: 'Sea chart 24, Turku to Hanko.pdf',
    mimeType: 'application/pdf',
    buffer: Buffer.alloc(482_000),
  });
  await expect(mikael.page.getByRole('button', { name: /^Download Sea chart/ })).toBeVisible();
  await mikael.react('Gladly, with the charts', '❤️');
  await expect(aino.bubbles('Gladly, with the charts').getByRole('button', { name: /^❤️/ })).toBeVisible();

  await mikael.choose('Come by on Sunday at noon?', 'Pin');
  await expect(aino.page.getByRole('region', { name: 'Pinned messages' })).toBeVisible();
  await aino.page.getByRole('button', { name: /^Disappearing messages/ }).click();
  await aino.page.getByRole('button', { name: '4 weeks' }).click();
  await aino.page.getByRole('button', { name: 'Save' }).click();
  await expect(aino.page.getByText('You set messages to disappear after 4 weeks.')).toBeVisible();
  await aino.send('The key is under the mat, where it always is.');
  await mikael.sees('The key is under the mat, where it always is.');
  await expect(aino.bubbles('The key is under').getByTitle('Read')).toBeVisible();

  line.isCut = true;
  await line.now?.close();
  await expect(aino.page.getByRole('banner')).toContainText('Reconnecting…');
  const refusal = { status: 403, code: 'not-a-contact', detail: 'x' };
  await whileFailing(ainosBrowser, 'POST', /^\/messages\/user\//, refusal, async () => {
    await aino.send('See you on Sunday!');
    await reads(aino, 'You do not have permission to send messages to this user.');
  });
  await expect(aino.bubbles('See you on Sunday!')).toContainText('Not sent.');
  await expect(aino.toast('You do not have permission')).toHaveCount(0);
  line.isCut = false;
  await expect(aino.page.getByRole('banner')).not.toContainText('Reconnecting…');
  await looksRight(aino.page, 'chat-full', { phone: 1500, wide: 1500 });
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
