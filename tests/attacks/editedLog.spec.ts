import { findsNoBarriers } from '../e2e/support/axe.ts';
import { twoWhoTalk } from '../e2e/support/friends.ts';
import type { Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test } from '../e2e/support/test.ts';
import { framesTo, saveView, toldOf, viewsOn } from './support/views.ts';

/** Deletes a message of the only conversation from the relay's database, and moves up those after it. */
function leaveOut(relay: RunningRelay, fromTheEnd: number): void {
  relay.inDatabase((db) =>
    db.exec(`
    delete from entries where seq = (select max(seq) from entries) - ${fromTheEnd};
    update entries set seq = seq - 1 where seq > (select max(seq) from entries) - ${fromTheEnd};
    update conversations set last_seq = last_seq - 1;
  `),
  );
}

/** The file of what a person's browser saw, with texts: opened by keys, from the details of a message. */
async function savedView({ page }: Person, text: string): Promise<string> {
  await page
    .getByRole('article')
    .filter({ hasText: text })
    .getByRole('button', { name: 'Message actions' })
    .focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Message details' }).press('Enter');
  const details = page.getByRole('dialog', { name: 'Message details' });
  await expect(details.getByText('You and bob were shown different conversations.')).toBeVisible();
  await details.getByRole('button', { name: 'Compare with another browser' }).press('Enter');
  const path = await saveView(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(details).toBeHidden();
  return path;
}

test('a message that the relay leaves out is missed in its place, and the answer waits', async ({
  newBrowser,
  relay,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, 'The bill is on its way.');
  await bob.send('I shall pay it.');
  await alice.sees('I shall pay it.');

  await bob.page.goto('about:blank');
  const frames = framesTo(alice.page);
  await alice.page.reload();
  await alice.onDashboard();
  await alice.openChat(bob);
  const texts = ['Here it is.', 'DO NOT pay it, it is forged.', 'Did you get that?'];
  for (const [i, text] of texts.entries()) {
    await alice.send(text);
    await toldOf(frames, i + 1);
  }
  leaveOut(relay, 1);
  await bob.page.goto('/dashboard');
  await bob.onDashboard();
  await bob.openChat(alice);

  await bob.sees('Here it is.', 'Did you get that?');
  await expect(bob.message('DO NOT pay it, it is forged.')).toHaveCount(0);
  const line = bob.messages.getByText('1 message from alice did not arrive.');
  await expect(line).toBeVisible();
  const shown = (await bob.messages.innerText()).split('\n');
  const at = (text: string) => shown.findIndex((one) => one.includes(text));
  expect([at('Here it is.'), at('did not arrive'), at('Did you get that?')]).toEqual(
    [at('Here it is.'), at('did not arrive'), at('Did you get that?')].toSorted((one, two) => one - two),
  );

  await bob.send('Understood, paying.');
  const banner = bob.page.getByRole('region', { name: 'Sending waits' });
  await expect(banner).toBeVisible();
  await expect(alice.message('Understood, paying.')).toHaveCount(0);
  await bob.page.reload();
  await bob.onDashboard();
  await bob.openChat(alice);
  await expect(line).toBeVisible();

  // Bob's receipt says how far he has read, and what.
  await expect(
    alice.messages.getByText('You and bob were shown different conversations.').first(),
  ).toBeVisible();
  const file = await savedView(alice, 'Did you get that?');
  await banner.getByRole('button', { name: 'Compare with another browser' }).click();
  const views = viewsOn(bob.page);
  await views.locator('input[type=file]').setInputFiles(file);
  await expect(views.getByText(/^At no\. \d+ of the conversation, the two part\.$/)).toBeVisible();
  await expect(views.getByText('DO NOT pay it, it is forged.')).toBeVisible();
  await expect(views.getByText('Did you get that?')).toBeVisible();
  await findsNoBarriers(bob.page);
  await bob.page.keyboard.press('Escape');
  await expect(views).toBeHidden();

  await banner.getByRole('button', { name: 'Send anyway' }).click();
  await expect(banner).toBeHidden();
  // At a position that Alice has read already, where the relay gave her something else.
  await expect(
    alice.messages.getByText('You and bob were shown different conversations.').first(),
  ).toBeVisible();
});
