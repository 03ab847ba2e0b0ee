import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import { fits } from './support/layout.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const banner = ({ page }: Person) => page.getByRole('region', { name: 'Blocked person' });

test('whoever is blocked is heard of no more and can not tell, until they are unblocked and all of it comes', async ({
  newBrowser,
  relay,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await bob.openChat(alice);
  await bob.send('Before');
  await alice.sees('Before');

  await test.step('reporting sends the operator what is ticked, and nothing else', async () => {
    await bob.send('A threat');
    await alice.sees('A threat');
    await alice.tab('Contacts').click();
    await alice.page.getByRole('button', { name: `More about ${bob.username}` }).click();
    await alice.page.getByRole('menuitem', { name: 'Report' }).click();
    const dialog = alice.page.getByRole('dialog', { name: 'Report this person' });
    await dialog.getByRole('button', { name: 'Harassment' }).click();
    await dialog.getByRole('checkbox', { name: /A threat$/ }).click();
    for (const width of [360, 768, 1440]) {
      await alice.page.setViewportSize({ width, height: 900 });
      await fits(alice.page);
    }
    await findsNoBarriers(alice.page);
    await dialog.getByRole('button', { name: 'Send report' }).click();
    await expect(alice.toast('Report sent.')).toBeVisible();
    const [report] = await relay.operate<{ id: string }[]>('reports', 'list');
    expect(await relay.operate('reports', 'show', report?.id ?? '')).toMatchObject({
      reason: 'harassment',
      reported: { username: bob.username },
      reporter: { username: alice.username },
      messages: [{ text: 'A threat' }],
    });
  });

  await test.step('blocking from the menu of the contact, once asked', async () => {
    await alice.tab('Contacts').click();
    await alice.page.getByRole('button', { name: `More about ${bob.username}` }).click();
    await alice.page.getByRole('menuitem', { name: 'Block' }).click();
    await alice.page.getByRole('alertdialog').getByRole('button', { name: 'Block' }).click();
    await expect(alice.toast('Blocked.')).toBeVisible();
    await alice.openChat(bob);
    await expect(banner(alice)).toBeVisible();
    await expect(alice.page.getByPlaceholder('Type a message...')).toHaveCount(0);
  });

  await test.step('what they write is sent as before, and waits through a reload', async () => {
    await bob.send('Meanwhile');
    await bob.send('And more');
    await expect(bob.messages.getByText('Sent', { exact: true }).last()).toBeVisible();
    await alice.page.reload();
    await alice.onDashboard();
    await alice.openChat(bob);
    await expect(banner(alice)).toBeVisible();
    await alice.sees('Before');
    await expect(alice.message('Meanwhile')).toHaveCount(0);
  });

  await test.step('Profile lists them, and unblocks: everything is there, in order, without an alarm', async () => {
    await alice.tab('Profile').click();
    await alice.page.getByRole('button', { name: `Unblock ${bob.username}` }).click();
    await alice.openChat(bob);
    await alice.sees('Before', 'Meanwhile', 'And more');
    await expect(banner(alice)).toHaveCount(0);
    await alice.send('Here again');
    await bob.sees('Meanwhile', 'And more', 'Here again');
    for (const { messages } of [alice, bob])
      await expect(messages.getByText(/did not arrive|shown different/)).toHaveCount(0);
  });
});
