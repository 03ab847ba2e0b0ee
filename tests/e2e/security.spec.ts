import type { Page } from '@playwright/test';
import { wholeBrowser } from './browser.mjs';
import { findsNoBarriers } from './support/axe.ts';
import { twoFriends, twoWhoTalk } from './support/friends.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

// The engine alone writes to no clipboard.
test.use(wholeBrowser);

/** Makes a recovery key, and turns it on. @returns its groups */
async function makeRecoveryKey(person: Person): Promise<string[]> {
  const { page } = person;
  await page.getByRole('button', { name: 'Create recovery key' }).click();
  await findsNoBarriers(page);
  await person.prompt.getByRole('button', { name: 'Copy' }).click();
  await expect(person.prompt.getByText('Recovery key copied.')).toBeVisible();
  const groups = await person.keepRecoveryKey();
  await expect(page.getByText('Your recovery key is on.')).toBeVisible();
  return groups;
}

/** The log-in page says that the password was changed elsewhere. */
async function sendsToLogIn(page: Page): Promise<void> {
  await expect(page).toHaveURL('/login');
  const sentence = 'Your password was changed on another device. Log in with the new one.';
  await expect(page.getByRole('alert')).toHaveText(sentence);
  await expect(page.getByText('Connection error')).toHaveCount(0);
}

async function recover(page: Page, person: Person, groups: readonly string[], password: string) {
  await page.goto('/login');
  await page.getByRole('link', { name: 'Use your recovery key' }).click();
  await expect(page).toHaveURL('/recover');
  await findsNoBarriers(page);
  await page.getByLabel('Username or email').fill(person.username);
  await page.getByLabel('Recovery key').fill(groups.join(' ').toLowerCase());
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByLabel('New password again').fill(password);
  await page.getByRole('button', { name: 'Set password and log in' }).click();
  await expect(page).toHaveURL('/dashboard', { timeout: 60_000 });
}

test('a new password is told of in the other browsers, open or closed', async ({ newBrowser }) => {
  const { person: alice } = await newBrowser('alice');
  await alice.signUp();
  const { person: open } = await newBrowser('alice');
  await open.logIn();
  const { person: closed, context } = await newBrowser('alice');
  await closed.logIn();
  await closed.page.close();

  const { page } = alice;
  await alice.tab('Profile').click();
  await page.getByRole('button', { name: 'Change password' }).click();
  await alice.prompt.getByLabel('Current password').fill(alice.password);
  await alice.prompt.getByLabel('New password', { exact: true }).fill('another horse battery');
  await alice.prompt.getByLabel('New password again').fill('another horse battery');
  await alice.prompt.getByLabel('New password again').press('Enter');
  await sendsToLogIn(open.page);
  await findsNoBarriers(open.page);
  const opened = await context.newPage();
  await opened.goto('/dashboard');
  await sendsToLogIn(opened);
  for (const one of [open.page, opened]) {
    await one.getByLabel('Username').fill(alice.username);
    await one.getByLabel('Password', { exact: true }).fill('another horse battery');
    await one.getByRole('button', { name: 'Log In' }).click();
    await expect(one).toHaveURL('/dashboard');
  }
});

test('a recovery key opens the account in another browser, which is noticed and can be removed', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, 'Before I forgot my password.');
  const groups = await makeRecoveryKey(alice);
  await expect(alice.page.getByRole('button', { name: 'Create recovery key' })).toHaveCount(0);

  const { person: again } = await newBrowser('alice');
  await recover(again.page, alice, groups, 'a password that I remember');
  await again.openChat(bob);
  await again.send('I am back.');
  await bob.sees('I am back.');
  // The same person: nothing has changed for Bob.
  await expect(bob.page.getByText('Is this still')).toHaveCount(0);

  // The first browser has to log in again, by the new password only, and then sees the other one.
  await sendsToLogIn(alice.page);
  await alice.page.getByLabel('Username').fill(alice.username);
  const password = alice.page.getByLabel('Password', { exact: true });
  await password.fill(alice.password);
  await alice.page.getByRole('button', { name: 'Log In' }).click();
  await expect(alice.page.getByRole('alert')).toBeVisible();
  await password.fill('a password that I remember');
  await alice.page.getByRole('button', { name: 'Log In' }).click();
  await alice.onDashboard();
  await expect(alice.page.getByText(/^Your password was changed on .+\./)).toBeVisible();
  await findsNoBarriers(alice.page);
  await alice.page.getByRole('button', { name: 'It was me' }).click();
  await expect(alice.page.getByText(/New device signed in/)).toBeVisible();
  await alice.page.getByRole('button', { name: 'Review devices' }).click();
  await alice.page.getByRole('button', { name: /^Remove (?!device)/ }).click();
  await alice.page.getByRole('button', { name: 'Remove device' }).click();
  await alice.confirmWithPassword('a password that I remember');

  await expect(again.page).toHaveURL('/login');
  await expect(again.page.getByRole('alert')).toContainText('removed from your account');
  await bob.send('Only for the browser that is left.');
  await alice.openChat(bob);
  await alice.sees('I am back.', 'Only for the browser that is left.');
});

test('two people compare their safety number, and one marks the other as verified', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const numbers: string[][] = [];
  for (const [person, other] of [
    [alice, bob],
    [bob, alice],
  ] as const) {
    await person.openChat(other);
    await person.page.getByRole('button', { name: `Verify ${other.username}` }).click();
    const digits = person.page.getByRole('list', { name: 'Safety number' }).getByRole('listitem');
    await expect(digits).toHaveCount(12);
    await findsNoBarriers(person.page);
    numbers.push(await digits.allInnerTexts());
  }
  expect(numbers[0]).toEqual(numbers[1]);
  const mark = alice.page.getByRole('button', { name: 'Mark as verified' });
  await mark.click();
  await expect(alice.prompt.getByLabel('Password', { exact: true })).toBeFocused();
  await findsNoBarriers(alice.page);
  // A script in the page may misname the person, but not the keys.
  const inFrame = alice.prompt.getByRole('list', { name: 'Their device must show this safety number:' });
  expect(await inFrame.getByRole('listitem').allInnerTexts()).toEqual(numbers[0]);
  await alice.page.keyboard.press('Escape');
  // The focus goes in, and comes back to the dialog of the button that was pressed.
  await expect(alice.page.getByRole('dialog', { name: 'Safety number with bob' })).toBeFocused();
  await mark.click();
  await alice.confirmWithPassword();
  await expect(alice.page.getByText('You have verified bob.')).toBeVisible();
  await alice.page.keyboard.press('Escape');
  await expect(alice.page.getByRole('button', { name: 'Verified', exact: true })).toBeVisible();
  await alice.page.reload();
  await alice.onDashboard();
  await alice.openChat(bob);
  await expect(alice.page.getByRole('button', { name: 'Verified', exact: true })).toBeVisible();
});
