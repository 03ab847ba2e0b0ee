import type { Locator, Page } from '@playwright/test';
import { Keyboard } from './support/keyboard.ts';
import { becomeContacts } from './support/person.ts';
import { expect, test } from './support/test.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('from signing up to logging out without a mouse', async ({ newBrowser }) => {
  const { person: bob } = await newBrowser('bob');
  await bob.signUp();
  const { person: alice } = await newBrowser('alice');
  const { page } = alice;
  const keys = new Keyboard(page);

  await test.step('sign up', async () => {
    await page.bringToFront();
    await page.goto('/');
    await expect(page.getByRole('link', { name: 'Get Started' })).toBeVisible();
    await keys.press('Tab');
    await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
    await keys.tabTo(page.getByRole('banner').getByRole('link', { name: 'Sign Up' }));
    await page.keyboard.press('Enter');
    await expect(button(page, 'Sign Up')).toBeVisible();
    await keys.tabTo(page.getByLabel('Username'));
    await keys.type(alice.username);
    await keys.press('Tab');
    await keys.type(alice.email);
    await keys.press('Tab');
    await keys.type(alice.password);
    await keys.tabTo(page.getByRole('checkbox'), { within: 3 });
    await keys.press('Space');
    await keys.tabTo(button(page, 'Sign Up'), { within: 3 });
    await page.keyboard.press('Enter');
    await alice.onDashboard();
    await keys.hasFocus();
  });

  await test.step('put the offer of a recovery key aside', async () => {
    await keys.tabTo(button(page, 'Later'), { key: 'Shift+Tab', within: 10 });
    await page.keyboard.press('Enter');
    await expect(button(page, 'Later')).toBeHidden();
  });

  await test.step('ask somebody to be a contact', async () => {
    await keys.press('Alt+3');
    await expect(alice.tab('Contacts')).toBeFocused();
    await keys.tabTo(button(page, 'Find Users'), { within: 5 });
    await keys.press('Enter');
    await expect(page.getByPlaceholder('Search by email or username...')).toBeFocused();
    await keys.type('bob');
    await keys.tabTo(button(page, 'Add Contact'));
    await page.keyboard.press('Enter');
    await expect(alice.toast('Contact request sent successfully')).toBeVisible();
    await keys.hasFocus();
    await bob.acceptContact(alice);
  });

  await test.step('write, with an emoji', async () => {
    await keys.press('Alt+1');
    await expect(alice.contact(bob)).toBeVisible();
    await keys.tabTo(alice.contact(bob).getByRole('button'));
    await keys.press('Enter');
    const input = page.getByPlaceholder('Type a message...');
    await expect(input).toBeFocused();
    await keys.type('Good morning ');
    await page.keyboard.press('Control+e');
    const search = page.getByRole('searchbox', { name: 'Search emojis' });
    await expect(search).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(search).toBeHidden();
    await expect(input).toBeFocused();
    await page.keyboard.press('Control+e');
    await expect(search).toBeFocused();
    await keys.type('penguin');
    await expect(page.getByRole('gridcell')).toHaveCount(1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(input).toHaveValue('Good morning 🐧');
    await expect(input).toBeFocused();
    await keys.press('Enter');
    await alice.sees('Good morning 🐧');
    await expect(input).toBeFocused();
  });

  await test.step('see what became of it, and go back to writing', async () => {
    const actions = button(page, 'Message actions');
    await keys.tabTo(actions, { key: 'Shift+Tab', within: 6 });
    await page.keyboard.press('Enter');
    await expect(page.getByRole('menuitem').first()).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('menu')).toHaveCount(0);
    await expect(actions).toBeFocused();
    await keys.tabTo(page.getByPlaceholder('Type a message...'), { within: 6 });
  });

  await test.step('make a group and let somebody in', async () => {
    await keys.press('Alt+2');
    await expect(alice.tab('Groups')).toBeFocused();
    await keys.tabTo(button(page, 'New Group'), { within: 5 });
    await keys.press('Enter');
    await expect(page.getByLabel('Group name')).toBeFocused();
    await keys.type('Sailors');
    await page.keyboard.press('Enter');
    await expect(alice.toast('Group "Sailors" created successfully!')).toBeVisible();
    await keys.hasFocus();
    const details = button(page, 'Group Details');
    await keys.tabTo(details, { key: 'Shift+Tab', within: 8 });
    await page.keyboard.press('Enter');
    await expect(alice.details).toBeVisible();
    await keys.tabTo(alice.details.getByRole('combobox', { name: 'Add Member' }));
    await keys.type('bob');
    await expect(page.getByRole('option', { name: 'bob', exact: true })).toBeVisible();
    await keys.press('ArrowDown', 'Enter', 'Escape');
    await keys.tabTo(alice.details.getByRole('button', { name: 'Add', exact: true }), { within: 6 });
    await page.keyboard.press('Enter');
    await expect(alice.toast('bob added to the group!')).toBeVisible();
    await keys.hasFocus();
  });

  await test.step('settings and help', async () => {
    await keys.press('Alt+4');
    await keys.tabTo(button(page, 'Edit Profile'));
    await keys.press('Enter');
    await expect(page.getByRole('main').getByLabel('Username')).toBeFocused();
    await keys.tabTo(button(page, 'Cancel'), { within: 5 });
    await page.keyboard.press('Enter');
    await expect(button(page, 'Edit Profile')).toBeFocused();
    await keys.tabTo(page.getByRole('switch', { name: 'Sound' }));
    const before = await page.getByRole('switch', { name: 'Sound' }).getAttribute('aria-checked');
    await keys.press('Space');
    await expect(page.getByRole('switch', { name: 'Sound' })).not.toHaveAttribute(
      'aria-checked',
      before ?? '',
    );
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
    await keys.hasFocus();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByRole('switch', { name: 'Sound' })).toBeFocused();
  });

  await test.step('log out', async () => {
    await keys.press('Alt+1');
    await keys.tabTo(button(page, 'Logout'), { key: 'Shift+Tab', within: 20 });
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL('/');
    await expect(page.getByRole('main')).toBeVisible();
    await keys.hasFocus();
  });
});

test('the keys stay in a dialog while it is open, and come back where they were', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  const { person: bob } = await newBrowser('bob');
  await alice.signUp();
  await bob.signUp();
  await becomeContacts(alice, bob);
  const { page } = alice;
  const keys = new Keyboard(page);

  // From its last control the focus goes round by way of a guard beside it.
  const holdsFocus = (popup: Locator) =>
    expect.poll(() => popup.evaluate((element) => element.contains(document.activeElement))).toBe(true);
  const staysIn = async (popup: Locator) => {
    await expect(popup).toBeVisible();
    await holdsFocus(popup);
    for (const key of [...Array<string>(12).fill('Tab'), ...Array<string>(6).fill('Shift+Tab')]) {
      await page.keyboard.press(key);
      await holdsFocus(popup);
    }
    await page.keyboard.press('Escape');
    await expect(popup).toBeHidden();
  };

  await alice.openChat(bob);
  const verify = page.getByRole('button', { name: /^Verify/ });
  await keys.tabTo(verify, { key: 'Shift+Tab', within: 10 });
  await page.keyboard.press('Enter');
  await staysIn(page.getByRole('dialog', { name: 'Safety number with bob' }));
  await expect(verify).toBeFocused();

  await alice.createGroup('Sailors');
  await alice.openDetails();
  const remove = alice.details.getByRole('button', { name: 'Delete Group' });
  await keys.tabTo(remove);
  await page.keyboard.press('Enter');
  await staysIn(page.getByRole('alertdialog'));
  await expect(remove).toBeFocused();
});
