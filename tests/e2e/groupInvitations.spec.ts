import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import { fits } from './support/layout.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const invitations = ({ page }: Person) => page.getByRole('list', { name: 'Invitations' });

test('who asks to be asked first is invited, joins by a tap, and is in the group once they are added', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await bob.tab('Profile').click();
  const setting = bob.page.getByRole('switch', { name: 'Ask me first' });
  // The switch shows the choice before the relay has it.
  const kept = bob.page.waitForResponse(
    (response) => response.url().endsWith('/users/me/asked-first') && response.request().method() === 'PUT',
  );
  await setting.click();
  await expect(bob.page.getByText('Contacts who want you in a group ask you first.')).toBeVisible();
  await kept;
  await bob.tab('Groups').click();

  await alice.createGroup('Sailing club');
  await alice.addMember(bob, `${bob.username}: asked first, and added once they accept.`);
  await expect(invitations(bob)).toContainText(`${alice.username} asks whether you want to be in a group.`);
  await expect(bob.page.getByText('No groups yet')).toBeVisible();
  for (const width of [360, 768, 1440]) {
    await bob.page.setViewportSize({ width, height: 900 });
    await fits(bob.page);
  }
  await findsNoBarriers(bob.page);
  await bob.page.getByRole('button', { name: 'Join' }).click();
  await expect(invitations(bob)).toContainText('who can add you now');

  await expect(invitations(alice)).toContainText(`${bob.username} would like to be in Sailing club.`);
  await invitations(alice).getByRole('button', { name: 'Add' }).click();
  await expect(bob.page.getByRole('button', { name: /Sailing club/ })).toBeVisible();
  for (const person of [alice, bob]) await expect(invitations(person)).toHaveCount(0);
});
