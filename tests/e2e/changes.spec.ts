import type { Locator, Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { twoWhoTalk } from './support/friends.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

/** The message of a text, and none that quotes it. */
const bubble = ({ page }: Person, text: string): Locator =>
  page
    .getByRole('region', { name: /^(Messages with|Viestit: )/ })
    .getByRole('article')
    .filter({ has: page.getByText(text, { exact: true }).and(page.locator('p')) });

const rowOf = (person: Person, text: string) =>
  person.page
    .locator('li[data-index]')
    .filter({ has: person.page.getByText(text, { exact: true }).and(person.page.locator('p')) });

async function openMenu(person: Person, text: string): Promise<Locator> {
  const shown = bubble(person, text);
  await shown.hover();
  await shown.getByRole('button', { name: 'Message actions' }).click();
  const menu = person.page.getByRole('menu');
  await expect(menu).toBeVisible();
  return menu;
}

async function choose(person: Person, text: string, item: string): Promise<void> {
  const menu = await openMenu(person, text);
  await menu.getByRole('menuitem', { name: item, exact: true }).click();
  await expect(menu).toHaveCount(0);
}

/** A finger rests on an element until the menu is there. */
async function hold(page: Page, element: Locator): Promise<void> {
  const box = await element.boundingBox();
  if (box === null) throw new Error('nothing to rest on');
  const session = await page.context().newCDPSession(page);
  const touchPoints = [{ x: box.x + box.width / 3, y: box.y + box.height / 2 }];
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  await expect(page.getByRole('menu')).toBeVisible();
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

test('two people answer, react, edit and delete, one without MQTT, and another browser of theirs follows', async ({
  newBrowser,
}) => {
  const ways = { withMqtt: true, bobWithMqtt: false };
  const { alice, bob } = await twoWhoTalk(newBrowser, ways, 'Shall we sail on Saturday?');
  const input = ({ page }: Person) => page.getByRole('textbox', { name: /^(Message to|Edit your) / });

  await test.step('an answer has its original above it, which leads there', async () => {
    await choose(bob, 'Shall we sail on Saturday?', 'Reply');
    await expect(input(bob)).toBeFocused();
    await expect(bob.page.getByText('Replying to alice')).toBeVisible();
    await findsNoBarriers(bob.page);
    await bob.page.keyboard.type('Yes, at ten');
    await bob.page.keyboard.press('Enter');
    const quote = bubble(alice, 'Yes, at ten').getByRole('button', {
      name: 'In reply to You: Shall we sail on Saturday?',
    });
    await quote.click();
    const original = rowOf(alice, 'Shall we sail on Saturday?');
    await expect(original).toBeFocused();
  });

  await test.step('a reaction is given by pointer and by keys, and taken back by both', async () => {
    const menu = await openMenu(bob, 'Shall we sail on Saturday?');
    await findsNoBarriers(bob.page);
    await menu.getByRole('menuitemcheckbox', { name: 'React with ❤️' }).click();
    const atAlice = bubble(alice, 'Shall we sail on Saturday?').getByRole('button', { name: /^❤️/ });
    await expect(atAlice).toHaveAccessibleName('❤️ bob');
    await expect(alice.page.getByText('bob reacted with ❤️ to your message')).toBeAttached();
    await atAlice.focus();
    await alice.page.keyboard.press('Enter');
    await expect(atAlice).toHaveAttribute('aria-pressed', 'true');
    const atBob = bubble(bob, 'Shall we sail on Saturday?').getByRole('button', { name: /^❤️/ });
    await expect(atBob).toHaveAccessibleName('❤️ You and alice');
    await atBob.click();
    await expect(atAlice).toHaveAccessibleName('❤️ You');
    await alice.page.keyboard.press('Enter');
    await expect(atAlice).toHaveCount(0);
    await expect(atBob).toHaveCount(0);
    await expect(bob.tab('Messages')).not.toContainText(/\d/);
  });

  await test.step('an edit takes the place of the text everywhere, and tells how it was', async () => {
    await bob.send('Bring warm socks');
    await input(bob).press('ArrowUp');
    await expect(bob.page.getByText('Editing message')).toBeVisible();
    await expect(input(bob)).toHaveValue('Bring warm socks');
    await findsNoBarriers(bob.page);
    await input(bob).fill('Bring a warm hat');
    await input(bob).press('Enter');
    await alice.sees('Bring a warm hat');
    await expect(alice.message('Bring warm socks')).toHaveCount(0);
    await bubble(alice, 'Bring a warm hat')
      .getByRole('button', { name: /^Edited/ })
      .click();
    const versions = alice.page.getByRole('dialog', { name: 'Versions of this message' });
    await expect(versions.getByRole('listitem')).toHaveText([/Bring a warm hat$/, /Bring warm socks$/]);
    await findsNoBarriers(alice.page);
    await alice.page.keyboard.press('Escape');
    await expect(versions).toHaveCount(0);
  });

  const { person: phone } = await newBrowser('bob', { hasTouch: true, isMobile: true });
  await phone.page.setViewportSize({ width: 390, height: 844 });
  await phone.logIn();
  await phone.openChat(alice);
  await phone.sees('Bring a warm hat');

  await test.step('what is deleted for everyone is gone for everyone, after a reload too', async () => {
    await bubble(bob, 'Bring a warm hat').hover();
    await choose(bob, 'Bring a warm hat', 'Delete');
    const question = bob.page.getByRole('alertdialog', { name: 'Delete this message?' });
    await findsNoBarriers(bob.page);
    await question.getByRole('button', { name: 'Delete for everyone' }).click();
    await expect(bob.messages.getByText('You deleted this message')).toBeVisible();
    await expect(phone.messages.getByText('You deleted this message')).toBeVisible();
    await expect(alice.messages.getByText('Message deleted')).toBeVisible();
    await expect(alice.contact(bob)).toContainText('Message deleted');
    for (const person of [alice, bob]) {
      await person.page.reload();
      await person.onDashboard();
      await person.sees('Yes, at ten');
      await expect(person.page.getByText('Bring a warm hat')).toHaveCount(0);
    }
    await expect(alice.messages.getByText('Message deleted')).toBeVisible();
  });

  await test.step('what is deleted for oneself stays with the other one', async () => {
    await rowOf(alice, 'Yes, at ten').focus();
    await alice.page.keyboard.press('Delete');
    await alice.page.getByRole('button', { name: 'Delete for me' }).click();
    await expect(alice.message('Yes, at ten')).toHaveCount(0);
    await alice.page.reload();
    await alice.onDashboard();
    await expect(bubble(alice, 'Shall we sail on Saturday?')).toBeVisible();
    await expect(alice.message('Yes, at ten')).toHaveCount(0);
    await bob.sees('Yes, at ten');
  });

  await test.step('on a phone a resting finger opens the menu, in Finnish as well', async () => {
    await phone.page.evaluate(() => localStorage.setItem('locale', 'fi'));
    await phone.page.reload();
    const original = bubble(phone, 'Shall we sail on Saturday?').getByText('Shall we sail on Saturday?');
    await expect(original).toBeVisible();
    await hold(phone.page, original);
    await findsNoBarriers(phone.page);
    await phone.page.getByRole('menuitem', { name: 'Vastaa' }).tap();
    await expect(phone.page.getByText('Vastataan: alice')).toBeVisible();
    await expect(phone.page.getByRole('textbox')).toBeFocused();
    await phone.page.keyboard.type('Minulle sopii');
    await phone.page.keyboard.press('Enter');
    await expect(
      bubble(alice, 'Minulle sopii').getByRole('button', { name: /^In reply to You/ }),
    ).toBeVisible();
  });
});
