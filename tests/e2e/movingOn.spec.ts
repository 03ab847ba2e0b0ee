import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const newPassword = 'another horse battery';

/** Moves on to a new key, by the present password and a new one. */
async function moveOn(person: Person): Promise<void> {
  const { page, prompt } = person;
  await person.tab('Profile').click();
  await page.getByRole('button', { name: 'Move on to a new key' }).click();
  await expect(prompt.getByText('You move the account alice on to a new key')).toBeVisible();
  await prompt.getByLabel('Current password').fill(person.password);
  await prompt.getByLabel('New password', { exact: true }).fill(newPassword);
  await prompt.getByLabel('New password again').fill(newPassword);
  await prompt.getByLabel('New password again').press('Enter');
  await expect(person.toast('Your account has a new key.')).toBeVisible({ timeout: 60_000 });
}

test('somebody whose password was stolen moves on: the thief is out, and their contacts accept the new key', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await bob.createGroup('Skerry');
  await bob.addMember(alice);
  await alice.openGroup('Skerry');
  await alice.send('All of us are here.');
  await bob.sees('All of us are here.');
  await bob.openChat(alice);
  await alice.openChat(bob);
  await alice.send('Before the theft.');
  await bob.sees('Before the theft.');

  const { person: thief } = await newBrowser('alice');
  await thief.logIn();
  await moveOn(alice);

  await expect(thief.page).toHaveURL('/login');
  const sentence = 'Your password was changed on another device. Log in with the new one.';
  await expect(thief.page.getByRole('alert')).toHaveText(sentence);
  await thief.page.getByLabel('Username').fill(thief.username);
  await thief.page.getByLabel('Password', { exact: true }).fill(thief.password);
  await thief.page.getByRole('button', { name: 'Log In' }).click();
  await expect(thief.page.getByRole('alert')).toContainText('Wrong');

  // This browser's messages are still there, and what is written now waits for Bob's word.
  await alice.openChat(bob);
  await alice.sees('Before the theft.');
  await alice.send('It is me. I had to move on.');
  await expect(bob.page.getByText('Is this still')).toBeVisible();
  await findsNoBarriers(bob.page);
  await expect(bob.message('It is me. I had to move on.')).toHaveCount(0);
  await bob.page.getByRole('button', { name: 'Accept the new key' }).click();
  await expect(bob.prompt.getByText('You accept the new security key of alice.')).toBeVisible();
  await bob.confirmWithPassword();
  await bob.sees('Before the theft.', 'It is me. I had to move on.');
  await bob.send('Good that you did.');
  await alice.sees('Good that you did.');

  await alice.openGroup('Skerry');
  await alice.sees('All of us are here.');
  await alice.send('Here as well.');
  await bob.openGroup('Skerry');
  await bob.sees('All of us are here.', 'Here as well.');
  await bob.send('And so am I.');
  await alice.sees('And so am I.');

  // The browser is the same one after a reload, and the new password opens it.
  await alice.page.reload();
  await alice.onDashboard();
  await alice.openGroup('Skerry');
  await alice.sees('And so am I.');
  await alice.logOut();
  const again = alice.page;
  await again.goto('/login');
  await again.getByLabel('Username').fill(alice.username);
  await again.getByLabel('Password', { exact: true }).fill(newPassword);
  await again.getByRole('button', { name: 'Log In' }).click();
  await alice.onDashboard();
  await alice.openChat(bob);
  await alice.sees('Before the theft.', 'It is me. I had to move on.', 'Good that you did.');
});

test('a group that waits for the word on a key says so, and takes it there', async ({ newBrowser }) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.createGroup('Skerry');
  await alice.addMember(bob);
  await bob.openGroup('Skerry');
  await alice.tab('Profile').click();
  await findsNoBarriers(alice.page);
  await moveOn(alice);
  await alice.openGroup('Skerry');
  await alice.send('It is still my group.');
  await expect(bob.page.getByText('Is this still')).toBeVisible();
  await findsNoBarriers(bob.page);
  await bob.send('Waits until I have decided.');
  await bob.page.getByRole('button', { name: 'Accept the new key' }).click();
  await bob.confirmWithPassword();
  await bob.sees('It is still my group.', 'Waits until I have decided.');
  await alice.sees('Waits until I have decided.');
});
