import { findsNoBarriers } from './support/axe.ts';
import { twoWhoTalk } from './support/friends.ts';
import { expect, test } from './support/test.ts';

test('one sees that the other is writing until their message comes, and neither does who switches it off', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, 'Shall we sail?');
  const input = alice.page.getByRole('textbox', { name: 'Message to bob' });
  const head = bob.page.getByRole('region', { name: 'Chat with alice' }).getByRole('status');

  /** Alice goes on until Bob sees it: what is shown ends by itself. */
  async function writesUntilSeen(): Promise<void> {
    await expect(async () => {
      await input.pressSequentially('Y');
      await expect(head).toHaveText('alice is writing…', { timeout: 1500 });
    }).toPass();
  }

  await test.step('it is below the head and in the list', async () => {
    await writesUntilSeen();
    await expect(bob.contact(alice)).toContainText('alice is writing…');
    await findsNoBarriers(bob.page);
  });

  await test.step('it ends with the message, and begins anew', async () => {
    await writesUntilSeen();
    await input.fill('Yes, on Sunday');
    await input.press('Enter');
    await bob.sees('Yes, on Sunday');
    await expect(head).toBeEmpty();
    await writesUntilSeen();
    await input.fill('');
    await expect(head).toBeEmpty();
  });

  await test.step('whoever switches it off neither tells nor is told', async () => {
    await bob.tab('Profile').click();
    await bob.page.getByRole('switch', { name: 'Show who is writing' }).click();
    await bob.tab('Messages').click();
    await bob.page.getByRole('textbox', { name: 'Message to alice' }).pressSequentially('Fine');
    for (const letter of 'Good') await input.pressSequentially(letter);
    await input.press('Enter');
    await bob.sees('Good');
    await expect(head).toBeEmpty();
    const told = alice.page.getByRole('region', { name: 'Chat with bob' }).getByRole('status');
    await bob.page.keyboard.press('Enter');
    await alice.sees('Fine');
    await expect(told).toBeEmpty();
  });
});
