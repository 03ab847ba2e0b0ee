import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import { expect, test } from './support/test.ts';

test('a draft and what was read are the same on the laptop and on the phone', async ({ newBrowser }) => {
  const { alice: laptop, bob } = await twoFriends(newBrowser, { withMqtt: true });
  const { person: phone } = await newBrowser('alice');
  await phone.page.setViewportSize({ width: 390, height: 844 });
  await phone.logIn();
  await laptop.openChat(bob);
  const [onLaptop, onPhone] = [laptop, phone].map(({ page }) => page.getByPlaceholder('Type a message...'));

  await test.step('what is half written on one stands on the other', async () => {
    await onLaptop!.pressSequentially('Half a thought');
    await expect(phone.contact(bob)).toContainText('Half a thought');
    await phone.openChat(bob);
    await expect(onPhone!).toHaveValue('Half a thought');
  });

  await test.step('what is sent from the other leaves no draft anywhere', async () => {
    await onPhone!.fill('A whole thought');
    await expect(onLaptop!).toHaveValue('A whole thought');
    await onPhone!.press('Enter');
    await expect(onLaptop!).toHaveValue('');
    await expect(onPhone!).toHaveValue('');
    await laptop.sees('A whole thought');
  });

  await test.step('what is read on the phone is read on the laptop', async () => {
    await laptop.tab('Contacts').click();
    await phone.page.getByRole('button', { name: 'Back to contacts' }).click();
    await bob.openChat(laptop);
    await bob.send('Can you see this?');
    await expect(laptop.tab('Messages')).toContainText('1');
    await phone.openChat(bob);
    await phone.sees('Can you see this?');
    await expect(laptop.tab('Messages')).not.toContainText('1');
  });

  await test.step('what is muted on the phone is muted on the laptop', async () => {
    await phone.page.getByRole('button', { name: 'Mute', exact: true }).click();
    const dialog = phone.page.getByRole('dialog', { name: 'Mute' });
    const secondTab = await phone.page.context().newPage();
    await secondTab.goto('/dashboard');
    await secondTab.getByRole('tab', { name: 'Messages' }).click();
    await expect(secondTab.getByRole('tabpanel')).toContainText(bob.username);
    await expect(secondTab.getByRole('tabpanel')).not.toContainText('Muted');
    await dialog.getByRole('button', { name: 'For 8 hours' }).click();
    await findsNoBarriers(phone.page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(phone.page.getByRole('button', { name: /^Muted until / })).toBeFocused();
    await expect(secondTab.getByRole('tabpanel')).toContainText('Muted');
    await secondTab.close();
    await laptop.tab('Messages').click();
    await expect(laptop.contact(bob)).toContainText('Muted');
    await laptop.tab('Contacts').click();
    await phone.page.getByRole('button', { name: 'Back to contacts' }).click();
    await bob.send('Not so loud');
    await expect(phone.contact(bob)).toContainText('Not so loud');
    await expect(phone.contact(bob)).toContainText('1 unread');
    await expect(laptop.tab('Messages')).not.toContainText('1');
    await laptop.tab('Messages').click();
    await expect(laptop.page.getByRole('button', { name: /^Muted until / })).toBeVisible();
  });
});
