import { expect, type Page } from '@playwright/test';
import { fits } from './layout.ts';
import { becomeContacts, type Person } from './person.ts';
import type { World } from './test.ts';

/** Looks at each screen. @param name of the screen, for who reads a failed test */
export type Look = (page: Page, name: string) => Promise<void>;

/** By a part of its name: the pseudo locale puts marks around names. */
const button = (page: Page, name: RegExp) => page.getByRole('button', { name });
const tab = (page: Page, at: number) => page.getByRole('tab').nth(at);

/** The frame of the keys, shown over the page. It has words of its own, in the person's language. */
const prompt = (page: Page) => page.frameLocator('#keys');

async function asks(page: Page, field: string): Promise<void> {
  await expect(prompt(page).getByLabel(field, { exact: true })).toBeFocused();
  const frame = page.frames().find((one) => one.url().endsWith('/keys'));
  if (frame !== undefined) await fits(frame);
}

async function callsOff(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(page.locator('#keys')).toBeHidden();
}

export const groupName = 'Saturday sailors';

/** Goes to a page, and waits until it has taken the place of the screen that says so while it loads. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('main > output')).toHaveCount(0);
}

/** Names of the buttons of the page /prove. */
interface ProveButtons {
  readonly vectors: RegExp;
  readonly files: RegExp;
  readonly play: RegExp;
  readonly trick: RegExp;
}

/** Has the page /prove do all that it does for visitors, up to a trick of the play, and waits for what comes of it. */
export async function proveAll(page: Page, { files, play, trick, vectors }: ProveButtons): Promise<void> {
  for (const name of [vectors, files, play]) {
    await button(page, name).click();
    // It has another name then, or is gone.
    await expect(button(page, name)).toHaveCount(0);
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  }
  await button(page, trick).click();
  await expect(button(page, trick)).toHaveAttribute('aria-pressed', 'true');
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  await expect(page.getByRole('alert')).toHaveCount(0);
}

/** Every page that is open to everyone, with the forms as they are and as they refuse. */
export async function tourOfVisitors(page: Page, look: Look): Promise<void> {
  const paths = [
    '/',
    '/login',
    '/signup',
    '/recover',
    '/contact',
    '/privacy-policy',
    '/terms',
    '/about',
    '/prove',
    '/?deleted=true',
  ];
  for (const path of paths) {
    await goTo(page, path);
    await look(page, path);
  }
  await goTo(page, '/prove');
  await proveAll(page, {
    vectors: /Run the vectors/,
    files: /Compare the files/,
    play: /Let Anna and Bert begin/,
    trick: /Swap Bert’s key/,
  });
  await button(page, /files and their hashes/).click();
  await look(page, 'what was proved');
  await page.goto('/contact');
  await button(page, /Send Message/).click();
  await expect(page.getByText(/Message is required/)).toBeVisible();
  await look(page, 'what the contact page refuses');
  await page.goto('/login');
  await page.getByLabel(/Username/).fill('nobody of that name');
  await page.getByLabel(/^\W*Password/).fill('not the password');
  await button(page, /Log In/).click();
  await expect(page.getByRole('alert')).toContainText('Wrong username or password.');
  await look(page, 'what the log-in form refuses');
}

/** The dashboard of somebody who has nothing yet, and everything of their profile. */
export async function tourOfNewcomers(page: Page, look: Look): Promise<void> {
  await expect(page.getByText(/No contacts yet/)).toBeVisible();
  await look(page, 'no messages');
  await tab(page, 1).click();
  await expect(page.getByText(/No groups yet/)).toBeVisible();
  await look(page, 'no groups');
  await button(page, /New Group/).click();
  await look(page, 'the form of a group');
  await tab(page, 2).click();
  await expect(page.getByText(/Your contacts list is empty/)).toBeVisible();
  await look(page, 'no contacts');
  await button(page, /Notes to self/).click();
  await expect(page.getByText(/Only your own browsers can read it/)).toBeVisible();
  await look(page, 'no notes');
  await page.getByRole('textbox').last().fill('Lamp oil, before the keeper asks again');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('article').getByText('Lamp oil')).toBeVisible();
  await look(page, 'notes');
  // On a phone the tabs are behind the open chat.
  const back = button(page, /Back to contacts/);
  if (await back.isVisible()) await back.click();
  await tab(page, 2).click();
  await button(page, /Find Users/).click();
  await page.getByRole('searchbox').fill('nobody of that name');
  await expect(page.getByText(/No users found matching/)).toBeVisible();
  await look(page, 'nobody found');
  await button(page, /Notifications/).click();
  await expect(page.getByText(/No notifications yet/)).toBeVisible();
  await look(page, 'no notifications');
  await page.keyboard.press('Escape');
  await tab(page, 3).click();
  await expect(button(page, /Edit Profile/)).toBeVisible();
  await look(page, 'the profile');
  await button(page, /Edit Profile/).click();
  await look(page, 'the profile being edited');
  await button(page, /Delete Account/).click();
  await expect(button(page, /Confirm Delete/)).toBeVisible();
  await look(page, 'the question before an account is deleted');
  await button(page, /Confirm Delete/).click();
  await asks(page, 'Password');
  await look(page, 'the question for the password');
  await callsOff(page);
  await button(page, /Create recovery key/)
    .first()
    .click();
  await expect(prompt(page).getByRole('list', { name: 'Your recovery key' })).toBeFocused();
  await look(page, 'the recovery key');
  await prompt(page).getByRole('button', { name: 'I have kept it' }).click();
  await expect(prompt(page).getByLabel(/^Group \d+ of your recovery key/)).toBeFocused();
  await look(page, 'the question for a group of the recovery key');
  await callsOff(page);
  await button(page, /Show shortcuts/).click();
  await expect(page.getByRole('dialog', { name: /Keyboard shortcuts/ })).toBeVisible();
  await look(page, 'the keys');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: /Keyboard shortcuts/ })).toBeHidden();
  await button(page, /Change password/).click();
  await asks(page, 'Current password');
  await look(page, 'the form of a new password');
  await callsOff(page);

  await page.route('**/api/contacts', (route) => {
    return route.fulfill({ status: 422, json: { code: 'invalid-request', detail: 'Not now.' } });
  });
  await page.reload();
  await tab(page, 2).click();
  await expect(page.getByText(/Failed to load contacts/)).toBeVisible();
  await expect(button(page, /Try again/)).toBeVisible();
  await look(page, 'contacts that could not be loaded');
  // The button goes as soon as an attempt succeeds, and there is one every ten seconds.
  await button(page, /Try again/).click();
  await page.unroute('**/api/contacts');
  await expect(page.getByText(/Failed to load contacts/)).toBeHidden();

  await page.context().setOffline(true);
  await expect(page.getByRole('banner')).toContainText(/Offline: what you write is sent later/);
  await look(page, 'offline');
  await page.context().setOffline(false);
}

/** Makes everything fail that is drawn with a time in it from now on, until the page is loaded again. */
export async function breakTimes(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
      get() {
        throw new Error('broken on purpose');
      },
    });
  });
}

/** Two people, one of whom has written to the other. */
export async function twoWithAMessage(
  newBrowser: World['newBrowser'],
  options?: Parameters<World['newBrowser']>[1],
): Promise<{ aino: Person; mikael: Person }> {
  const { person: aino } = await newBrowser('aino', options);
  const { person: mikael } = await newBrowser('mikael');
  for (const person of [aino, mikael]) await person.signUp();
  await becomeContacts(mikael, aino);
  await mikael.openChat(aino);
  await mikael.send('Did the boat make it back before the storm?');
  return { aino, mikael };
}

/** Two people who have talked, in a chat and in a group, and a third who asks. */
export async function peopleInTalk(
  newBrowser: World['newBrowser'],
  options?: Parameters<World['newBrowser']>[1],
): Promise<{ aino: Person; mikael: Person }> {
  const { person: aino } = await newBrowser('aino', options);
  const { person: mikael } = await newBrowser('mikael');
  const { person: eino } = await newBrowser('eino');
  for (const person of [aino, mikael, eino]) await person.signUp();
  await becomeContacts(mikael, aino);
  await mikael.openChat(aino);
  await mikael.send('Did the boat make it back before the storm? See https://example.org/forecast');
  await aino.createGroup(groupName);
  await aino.addMember(mikael);
  await aino.send('We leave the harbour at nine.');
  await eino.requestContact(aino);
  return { aino, mikael };
}

/**
 * The dashboard with nothing open. A reload keeps what is open, which on a phone covers the rest, and the browser takes
 * going to the address that it shows for one, or doesn't.
 */
export async function startOver(page: Page): Promise<void> {
  await page.evaluate(() => history.replaceState(null, '', '/dashboard'));
  await page.reload();
  await expect(tab(page, 0)).toBeVisible();
}

/** Tours the screens of people in talk: chats, groups, notifications and all that opens above them. */
export async function tourOfPeopleInTalk(page: Page, other: string, look: Look): Promise<void> {
  const row = (name: string) =>
    page.getByRole('listitem').filter({ hasText: name }).getByRole('button').first();
  const closes = async (popup: 'dialog' | 'menu' | 'alertdialog', name?: RegExp) => {
    await page.keyboard.press('Escape');
    await expect(page.getByRole(popup, name && { name })).toHaveCount(0);
  };

  await startOver(page);
  await expect(row(other)).toBeVisible();
  await look(page, 'the list of chats');
  await row(other).click();
  await expect(page.getByRole('article').first()).toBeVisible();
  await look(page, 'a chat');
  await button(page, /Emoji/).click();
  await expect(page.getByRole('gridcell').first()).toBeVisible();
  await look(page, 'the emojis');
  await page.getByRole('dialog').getByRole('group').last().getByRole('button').nth(3).click();
  await look(page, 'the emojis in a skin tone');
  await closes('dialog', /emoji/i);
  await page.getByRole('article').first().hover();
  await button(page, /Message actions/)
    .first()
    .click();
  await expect(page.getByRole('menuitem').first()).toBeVisible();
  await look(page, 'the menu of a message');
  await page.getByRole('menuitem', { name: /Message details/ }).click();
  await expect(page.getByRole('dialog', { name: /Message details/ })).toBeVisible();
  await look(page, 'the details of a message');
  await button(page, /Compare with another browser/).click();
  await expect(page.getByRole('dialog', { name: /Compare what was shown/ })).toBeVisible();
  await look(page, 'the comparison of two views');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: /Compare what was shown/ })).toHaveCount(0);
  await closes('dialog', /Message details/);
  await button(page, /Verify/)
    .first()
    .click();
  await expect(page.getByRole('dialog', { name: /Safety number/ })).toBeVisible();
  await look(page, 'the safety number');
  await closes('dialog', /Safety number/);

  await startOver(page);
  await button(page, /Notifications/).click();
  await expect(page.getByRole('dialog', { name: /Notifications/ })).toBeVisible();
  await look(page, 'notifications');
  await closes('dialog', /Notifications/);
  await button(page, /More logout options/).click();
  await expect(page.getByRole('menuitem').first()).toBeVisible();
  await look(page, 'ways to log out');
  await page.getByRole('menuitem').last().click();
  await expect(page.getByRole('alertdialog')).toBeVisible();
  await look(page, 'the question before a browser is erased');
  await closes('alertdialog');
  await tab(page, 2).click();
  await expect(button(page, /Find Users/)).toBeVisible();
  await expect(button(page, /Accept/)).toBeVisible();
  await look(page, 'contacts, and somebody who asks to be one');
  await button(page, /Accept/).click();
  await expect(button(page, /Accept/)).toBeHidden();
  await tab(page, 1).click();
  await expect(row(groupName)).toBeVisible();
  await look(page, 'groups');
  await row(groupName).click();
  await expect(page.getByRole('article').first()).toBeVisible();
  await look(page, 'a group');
  await button(page, /Group Details/).click();
  await expect(button(page, /Delete Group/)).toBeVisible();
  await look(page, 'the details of a group');
  await page.getByRole('combobox').click();
  await expect(page.getByRole('option').first()).toBeVisible();
  await look(page, 'whom one could add to a group');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('option')).toHaveCount(0);
  await button(page, /Delete Group/).click();
  await expect(page.getByRole('alertdialog')).toBeVisible();
  await look(page, 'the question before a group is deleted');
  await closes('alertdialog');

  await startOver(page);
  await tab(page, 1).click();
  await expect(row(groupName)).toBeVisible();
  await breakTimes(page);
  await row(groupName).click();
  await expect(page.getByRole('alert').getByRole('button', { name: /Try again/ })).toBeVisible();
  await look(page, 'a part of the screen that has failed');
  await startOver(page);
}
