import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import { pastePhotograph } from './support/photograph.ts';
import { expect, test } from './support/test.ts';

const group = 'Saturday sailors';

test('formatted messages, mentions and all that is done with messages are read as meant in a group, in any window', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.createGroup(group);
  await alice.addMember(bob);
  await bob.openGroup(group);
  const input = alice.page.getByRole('textbox', { name: `Message to ${group}` });

  await test.step('keys set marks, and the mention of a person is chosen by keys', async () => {
    await input.click();
    await alice.page.keyboard.press('Control+b');
    await alice.page.keyboard.type('Saturday');
    await alice.page.keyboard.press('End');
    await alice.page.keyboard.type(', @b');
    await expect(alice.page.getByRole('option', { name: 'bob' })).toHaveAttribute('aria-selected', 'true');
    await findsNoBarriers(alice.page);
    await alice.page.keyboard.press('Tab');
    await expect(input).toBeFocused();
    await expect(input).toHaveValue('**Saturday**, @bob ');
    await alice.page.keyboard.type('brings:');
    const lines = ['', '- ~~beer~~ `water`', '- [charts](https://charts.example/a_b)', '', '> and **hats**'];
    for (const line of lines) {
      await alice.page.keyboard.press('Shift+Enter');
      await alice.page.keyboard.type(line);
    }
    await alice.page.keyboard.press('Enter');
  });

  await test.step('everybody reads it so, and the chat list has it without marks', async () => {
    for (const { messages } of [alice, bob]) {
      await expect(messages.locator('strong', { hasText: 'Saturday' })).toBeVisible();
      await expect(messages.locator('article li')).toHaveText([
        'beer water',
        'charts (goes to charts.example)',
      ]);
      await expect(messages.locator('article li').first()).toHaveCSS('list-style-type', 'disc');
      await expect(messages.locator('del')).toHaveText('beer');
      await expect(messages.locator('blockquote strong')).toHaveText('hats');
      await expect(messages.getByRole('link', { name: 'charts' })).toHaveAttribute(
        'href',
        'https://charts.example/a_b',
      );
      await expect(messages.getByText('@bob')).toBeVisible();
    }
    await expect(
      bob.page.getByText(/^alice mentioned you in Saturday sailors: Saturday, @bob brings/),
    ).toBeAttached();
  });

  await test.step('nothing is in the way in any window', async () => {
    for (const [width, colorScheme] of [
      [360, 'dark'],
      [1440, 'light'],
    ] as const) {
      await bob.page.setViewportSize({ width, height: 800 });
      await bob.page.emulateMedia({ colorScheme });
      await expect(bob.messages.locator('blockquote')).toBeVisible();
      await findsNoBarriers(bob.page);
      const isWide = await bob.messages.evaluate((element) => element.scrollWidth > element.clientWidth);
      expect(isWide).toBe(false);
    }
  });

  await test.step('the group answers, reacts, edits, deletes, pins and sends a picture', async () => {
    await bob.choose('brings:', 'Reply');
    await bob.send('Charts are packed');
    await alice.react('Charts are packed', '❤️');
    const bobsInput = bob.page.getByRole('textbox', { name: /^(Message to|Edit your) / });
    await bobsInput.press('ArrowUp');
    await bobsInput.fill('Charts and lamp oil are packed');
    await bobsInput.press('Enter');
    await alice.sees('Charts and lamp oil are packed');
    await alice.send('Nobody needs to know');
    await bob.sees('Nobody needs to know');
    await alice.choose('Nobody needs to know', 'Delete');
    await alice.page.getByRole('button', { name: 'Delete for everyone' }).click();
    await expect(bob.messages.getByText('Message deleted')).toBeVisible();
    await expect(alice.messages.getByText('You deleted this message')).toBeVisible();
    await bobsInput.focus();
    await pastePhotograph(bob.page);
    await bob.page.getByLabel('Description of IMG_2041.jpg').fill('A boat on a lake');
    await bob.page.getByRole('button', { name: 'Send', exact: true }).click();
    await bob.choose('Charts and lamp oil', 'Pin');
  });

  await test.step('everybody sees it, in a browser that joins later too', async () => {
    const { person: later } = await newBrowser('alice');
    await later.logIn();
    await later.openGroup(group);
    for (const person of [bob, alice, later]) {
      const answer = person.bubbles('Charts and lamp oil are packed');
      await expect(answer).toContainText('edited');
      await expect(
        answer.getByRole('button', { name: /^In reply to (You|alice): Saturday, @/ }),
      ).toBeVisible();
      await expect(answer.getByRole('button', { name: /^❤️ (You|alice)$/ })).toBeVisible();
      await expect(person.messages.getByText('Nobody needs to know')).toHaveCount(0);
      const picture = person.messages.getByRole('img', { name: 'A boat on a lake' });
      await expect(picture).toHaveJSProperty('naturalWidth', 1200);
      const bar = person.page.getByRole('region', { name: 'Pinned messages' });
      await expect(bar).toContainText('Charts and lamp oil are packed');
    }
  });
});
