import { findsNoBarriers } from './support/axe.ts';
import { twoWhoTalk } from './support/friends.ts';
import type { Person } from './support/person.ts';
import { pastePhotograph } from './support/photograph.ts';
import { expect, test } from './support/test.ts';

const said = 'The ferry leaves at nine';

/** The bubbles that say something, in the open chat. */
const bubbles = ({ page }: Person, text: string) => page.getByRole('article').filter({ hasText: text });

/** Opens the menu of a message by its button, as keys do, and chooses an item. */
async function choose(person: Person, text: string, item: string): Promise<void> {
  const button = bubbles(person, text).first().getByRole('button', { name: 'Message actions' });
  await button.focus();
  await person.page.keyboard.press('Enter');
  const chosen = person.page.getByRole('menuitem', { name: item, exact: true });
  await chosen.focus();
  await person.page.keyboard.press('Enter');
}

test('a person passes a text and a picture on, stars the text, and finds it again by the star', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, said);

  await test.step('a text goes on by keys, and says that it was forwarded, and not whose it was', async () => {
    await choose(bob, said, 'Forward');
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
    await expect(bubbles(alice, said)).toHaveCount(2);
    const passedOn = bubbles(alice, said).last();
    await expect(passedOn).toContainText('bob: Forwarded');
    await expect(bubbles(alice, said).first()).not.toContainText('Forwarded');
  });

  await test.step('a picture goes on with its caption and description', async () => {
    const input = alice.page.getByRole('textbox', { name: /Message/ });
    await input.focus();
    await pastePhotograph(alice.page);
    await alice.page.getByLabel('Description of IMG_2041.jpg').fill('A boat on a blue lake');
    await input.fill('From the *shore*');
    await input.press('Enter');
    await choose(bob, 'From the', 'Forward');
    const dialog = bob.page.getByRole('dialog', { name: 'Forward message' });
    await dialog.getByRole('combobox', { name: 'Forward to' }).fill('alice');
    await expect(bob.page.getByRole('option', { name: 'alice' })).toBeVisible();
    await bob.page.keyboard.press('Enter');
    await bob.page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Forward' }).press('Enter');
    await expect(bob.toast('Message forwarded')).toBeVisible();
    const passedOn = bubbles(alice, 'From the').last();
    await expect(passedOn).toContainText('bob: Forwarded');
    const picture = passedOn.getByRole('img', { name: 'A boat on a blue lake' });
    await expect(picture).toHaveJSProperty('naturalWidth', 1200);
  });

  await test.step('a star is at the message and in the profile, from where it leads back', async () => {
    await choose(bob, said, 'Star');
    await expect(bubbles(bob, said).first()).toContainText('Starred');
    await expect(bubbles(alice, said).first()).not.toContainText('Starred');
    await bob.tab('Profile').click();
    const list = bob.page.getByRole('region', { name: 'Starred messages' });
    await findsNoBarriers(bob.page);
    await list.getByRole('button', { name: said }).press('Enter');
    await expect(
      bob.page
        .getByRole('listitem')
        .filter({ has: bubbles(bob, said).first() })
        .first(),
    ).toBeFocused();
  });

  await test.step('another browser of the same person has it', async () => {
    const { person: again } = await newBrowser('bob');
    await again.logIn();
    await again.tab('Profile').click();
    await expect(again.page.getByRole('region', { name: 'Starred messages' })).toContainText(said);
  });

  await test.step('what its author deletes leaves the list', async () => {
    await choose(alice, said, 'Delete');
    await alice.page.getByRole('button', { name: 'Delete for everyone' }).click();
    await expect(bob.page.getByText('Message deleted').first()).toBeVisible();
    await bob.tab('Profile').click();
    await expect(bob.page.getByRole('region', { name: 'Starred messages' })).toHaveCount(0);
  });
});
