import { findsNoBarriers } from './support/axe.ts';
import { twoWhoTalk } from './support/friends.ts';
import { pastePhotograph } from './support/photograph.ts';
import { expect, test } from './support/test.ts';

const said = 'The ferry leaves at nine';

test('a person passes a text and a picture on, stars the text, and finds it again by the star', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, said);

  await test.step('a text goes on by keys, and says that it was forwarded, and not whose it was', async () => {
    await bob.choose(said, 'Forward');
    const dialog = bob.page.getByRole('dialog', { name: 'Forward message' });
    const field = dialog.getByRole('combobox', { name: 'Forward to' });
    for (const name of ['alice', 'Notes to self']) {
      await field.fill(name);
      await expect(bob.page.getByRole('option', { name })).toBeVisible();
      await bob.page.keyboard.press('Enter');
    }
    await bob.page.keyboard.press('Escape');
    await expect(dialog.getByRole('status')).toContainText('alice');
    await findsNoBarriers(bob.page);
    await dialog.getByRole('button', { name: 'Forward' }).press('Enter');
    await expect(bob.toast('Message forwarded to 2 conversations')).toBeVisible();
    await expect(dialog).toHaveCount(0);
    await expect(alice.bubbles(said)).toHaveCount(2);
    const passedOn = alice.bubbles(said).last();
    await expect(passedOn).toContainText('bob: Forwarded');
    await expect(alice.bubbles(said).first()).not.toContainText('Forwarded');
  });

  await test.step('a star is at the message and in the profile, from where it leads back', async () => {
    await bob.choose(said, 'Star');
    await expect(bob.bubbles(said).first()).toContainText('Starred');
    await expect(alice.bubbles(said).first()).not.toContainText('Starred');
    await bob.tab('Profile').click();
    const list = bob.page.getByRole('region', { name: 'Starred messages' });
    await findsNoBarriers(bob.page);
    await list.getByRole('button', { name: said }).press('Enter');
    await expect(
      bob.page
        .getByRole('listitem')
        .filter({ has: bob.bubbles(said).first() })
        .first(),
    ).toBeFocused();
  });

  await test.step('another browser of the same person has it', async () => {
    const { person: again } = await newBrowser('bob');
    await again.logIn();
    await again.tab('Profile').click();
    await expect(again.page.getByRole('region', { name: 'Starred messages' })).toContainText(said);
  });

  await test.step('a picture goes on with its caption and description', async () => {
    await bob.openChat(alice);
    const input = alice.page.getByRole('textbox', { name: /Message/ });
    await input.focus();
    await pastePhotograph(alice.page);
    await alice.page.getByLabel('Description of IMG_2041.jpg').fill('A boat on a blue lake');
    await input.fill('From the *shore*');
    await input.press('Enter');
    await bob.choose('From the', 'Forward');
    const dialog = bob.page.getByRole('dialog', { name: 'Forward message' });
    await dialog.getByRole('combobox', { name: 'Forward to' }).fill('alice');
    await expect(bob.page.getByRole('option', { name: 'alice' })).toBeVisible();
    await bob.page.keyboard.press('Enter');
    await bob.page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Forward' }).press('Enter');
    await expect(bob.toast('Message forwarded')).toBeVisible();
    const passedOn = alice.bubbles('From the').last();
    await expect(passedOn).toContainText('bob: Forwarded');
    const picture = passedOn.getByRole('img', { name: 'A boat on a blue lake' });
    await expect(picture).toHaveJSProperty('naturalWidth', 1200);
  });

  await test.step('what its author deletes leaves the list', async () => {
    await alice.choose(said, 'Delete');
    await alice.page.getByRole('button', { name: 'Delete for everyone' }).click();
    await expect(bob.page.getByText('Message deleted').first()).toBeVisible();
    await bob.tab('Profile').click();
    await expect(bob.page.getByRole('region', { name: 'Starred messages' })).toHaveCount(0);
  });
});
