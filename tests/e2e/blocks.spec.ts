import { becomeContacts, type Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const banner = ({ page }: Person) => page.getByRole('region', { name: 'Blocked person' });

test('whoever is blocked is heard of no more and can not tell, until they are unblocked and all of it comes', async ({
  newBrowser,
}) => {
  const { person: aino } = await newBrowser('aino');
  const { person: veikko } = await newBrowser('veikko');
  await aino.signUp();
  await veikko.signUp();
  await becomeContacts(aino, veikko);
  await aino.openChat(veikko);
  await veikko.openChat(aino);
  await veikko.send('Before');
  await aino.sees('Before');

  await test.step('blocking from the menu of the contact, once asked', async () => {
    await aino.tab('Contacts').click();
    await aino.page.getByRole('button', { name: `More about ${veikko.username}` }).click();
    await aino.page.getByRole('menuitem', { name: 'Block' }).click();
    await aino.page.getByRole('alertdialog').getByRole('button', { name: 'Block' }).click();
    await expect(aino.toast('Blocked.')).toBeVisible();
    await aino.openChat(veikko);
    await expect(banner(aino)).toBeVisible();
    await expect(aino.page.getByPlaceholder('Type a message...')).toHaveCount(0);
  });

  await test.step('what they write is sent as before, and waits through a reload', async () => {
    await veikko.send('Meanwhile');
    await veikko.send('And more');
    await expect(veikko.messages.getByText('Sent', { exact: true }).last()).toBeVisible();
    await aino.page.reload();
    await aino.onDashboard();
    await aino.openChat(veikko);
    await expect(banner(aino)).toBeVisible();
    await aino.sees('Before');
    await expect(aino.message('Meanwhile')).toHaveCount(0);
  });

  await test.step('Profile lists them, and unblocks: everything is there, in order, without an alarm', async () => {
    await aino.tab('Profile').click();
    await aino.page.getByRole('button', { name: `Unblock ${veikko.username}` }).click();
    await aino.openChat(veikko);
    await aino.sees('Before', 'Meanwhile', 'And more');
    await expect(banner(aino)).toHaveCount(0);
    await aino.send('Here again');
    await veikko.sees('Meanwhile', 'And more', 'Here again');
    for (const { messages } of [aino, veikko])
      await expect(messages.getByText(/did not arrive|shown different/)).toHaveCount(0);
  });
});
