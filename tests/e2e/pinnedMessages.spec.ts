import { findsNoBarriers } from './support/axe.ts';
import { twoWhoTalk } from './support/friends.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const said = 'The ferry leaves at nine';

const bar = ({ page }: Person) => page.getByRole('region', { name: 'Pinned messages' });

test('two people, one without MQTT, pin messages for both, and find them again by the bar above all others', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: false }, said);

  await test.step('a message is pinned by keys, and both see which, and who it was', async () => {
    await bob.choose(said, 'Pin');
    for (const person of [alice, bob]) await expect(bar(person)).toContainText(said);
    await expect(bob.page.getByText('You pinned a message.')).toBeVisible();
    await expect(alice.page.getByText('bob pinned a message.')).toBeVisible();
    await expect(alice.bubbles(said).first().getByTitle('Pinned')).toBeVisible();
    await alice.choose(said, 'Message details');
    await expect(alice.page.getByRole('dialog', { name: 'Message details' })).toContainText(
      /Pinned.*, by bob/,
    );
    await alice.page.keyboard.press('Escape');
    await alice.page.setViewportSize({ width: 320, height: 640 });
    await findsNoBarriers(alice.page);
    await alice.page.setViewportSize({ width: 1280, height: 400 });
  });

  await test.step('it leads there, and then to the one before', async () => {
    for (let line = 1; line <= 8; line++) await bob.send(`Line ${line}`);
    await alice.sees('Line 8');
    await alice.choose('Line 8', 'Pin');
    const lead = bar(alice).getByRole('button', { name: /^Pinned message/ });
    await expect(lead).toHaveAccessibleName('Pinned message 1 of 2, bob: Line 8');
    await lead.press('Enter');
    await expect(lead).toHaveAccessibleName(`Pinned message 2 of 2, You: ${said}`);
    await lead.press('Enter');
    await expect(alice.bubbles(said).first()).toBeInViewport();
    await expect(
      alice.page
        .getByRole('listitem')
        .filter({ has: alice.bubbles(said).first() })
        .first(),
    ).toBeFocused();
  });

  await test.step('both see that one is pinned no more, and nothing of one that was deleted', async () => {
    await expect(bar(bob)).toContainText('Line 8');
    await bar(bob).getByRole('button', { name: 'Actions for the pinned message' }).press('Enter');
    await bob.page.getByRole('menuitem', { name: 'Unpin' }).press('Enter');
    await expect(alice.page.getByText('bob unpinned a message.')).toBeVisible();
    for (const person of [alice, bob]) await expect(bar(person)).toContainText(said);
    await bob.page.reload();
    await bob.openChat(alice);
    await expect(bar(bob)).toContainText(said);
    await alice.choose(said, 'Delete');
    await alice.page.getByRole('button', { name: 'Delete for everyone' }).press('Enter');
    for (const person of [alice, bob]) await expect(bar(person)).toHaveCount(0);
  });
});
