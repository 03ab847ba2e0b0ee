import { findsNoBarriers } from './support/axe.ts';
import { twoWhoTalk } from './support/friends.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

/** Lets half a minute and a second pass by the clock that nobody sets, in the one room that counts it. */
async function waitHalfAMinute({ page }: Person): Promise<void> {
  const [worker] = page.workers().filter((one) => one.url().includes('crypto.worker'));
  if (worker === undefined) throw new Error('no worker');
  await worker.evaluate(() => {
    const before = performance.now.bind(performance);
    Object.defineProperty(performance, 'now', { value: () => before() + 31_000, configurable: true });
  });
}

test('two people, one without MQTT, have their messages disappear, and answers to them say so', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoWhoTalk(newBrowser, { withMqtt: false }, 'This one stays');
  const clock = ({ page }: Person) => page.getByRole('button', { name: /^Disappearing messages: / });

  await test.step('the time is chosen by keys, and both see who has chosen it', async () => {
    await expect(clock(alice)).toHaveAccessibleName('Disappearing messages: Off');
    await alice.page.setViewportSize({ width: 320, height: 640 });
    await clock(alice).focus();
    await alice.page.keyboard.press('Enter');
    const dialog = alice.page.getByRole('dialog', { name: 'Disappearing messages' });
    await dialog.getByRole('button', { name: 'Off' }).focus();
    await alice.page.keyboard.press('ArrowRight');
    await expect(dialog.getByRole('button', { name: '5 seconds' })).toBeFocused();
    await alice.page.keyboard.press('ArrowRight');
    await expect(dialog.getByRole('button', { name: '30 seconds' })).toBeFocused();
    await alice.page.keyboard.press('Enter');
    await findsNoBarriers(alice.page);
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await expect(dialog).toHaveCount(0);
    await expect(clock(alice)).toBeFocused();
    await alice.page.setViewportSize({ width: 1280, height: 720 });
    await expect(alice.page.getByText('You set messages to disappear after 30 seconds.')).toBeVisible();
    await expect(bob.page.getByText('alice set messages to disappear after 30 seconds.')).toBeVisible();
    await expect(clock(bob)).toHaveAccessibleName('Disappearing messages: 30 seconds');
  });

  await test.step('a message says that it will disappear, and does, with what was quoted of it', async () => {
    await alice.send('The key is under the mat');
    await bob.sees('The key is under the mat');
    const said = bob.page.getByRole('article').filter({ hasText: 'under the mat' });
    await expect(said).toContainText('Disappears 30 seconds after it was read');
    await said.hover();
    await said.getByRole('button', { name: 'Message actions' }).click();
    await bob.page.getByRole('menuitem', { name: 'Reply', exact: true }).click();
    await bob.page.keyboard.type('Found it');
    // Without a timer this one stays.
    await clock(alice).click();
    await alice.page.getByRole('button', { name: 'Off', exact: true }).click();
    await alice.page.getByRole('button', { name: 'Save' }).click();
    await expect(clock(bob)).toHaveAccessibleName('Disappearing messages: Off');
    await bob.page.keyboard.press('Enter');
    await alice.sees('Found it');
    for (const person of [alice, bob]) await waitHalfAMinute(person);
    for (const { page } of [alice, bob]) {
      await expect(page.getByText('This message has disappeared')).toBeVisible({ timeout: 20_000 });
      await expect(page.getByText('under the mat')).toHaveCount(0);
      await expect(page.getByText('This one stays').first()).toBeVisible();
    }
  });
});
