import { findsNoBarriers } from './support/axe.ts';
import { twoWhoTalk } from './support/friends.ts';
import { Keyboard } from './support/keyboard.ts';
import { expect, test } from './support/test.ts';

const diverged = 'You and Bert were shown different conversations.';
const unread = "Message couldn't be decrypted";

test('anybody tries out by keyboard what the page says of itself', async ({ newBrowser, relay }) => {
  const { person: visitor } = await newBrowser('visitor');
  const { page } = visitor;
  await page.setViewportSize({ width: 320, height: 800 });
  await page.goto('/');
  await page.getByRole('contentinfo').getByRole('link', { name: 'Prove It' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Prove It' })).toBeVisible();
  // Nothing has begun by itself.
  expect(page.workers()).toEqual([]);
  const keyboard = new Keyboard(page);

  await keyboard.tabTo(page.getByRole('button', { name: 'Run the vectors' }));
  await keyboard.press('Enter');
  await expect(page.getByText(/^All \d{3} cases came out as they were published/)).toBeVisible();
  const vectors = page.getByRole('region', { name: 'The published vectors' });
  await expect(vectors.getByText('passive-client')).toBeVisible();

  await keyboard.tabTo(page.getByRole('button', { name: 'Compare the files' }), { within: 80 });
  await keyboard.press('Enter');
  await expect(page.getByText('This server has no signed release to compare with.')).toBeVisible();
  const files = page.getByRole('region', { name: 'The files of this page' });
  await keyboard.tabTo(files.getByRole('button', { name: /files and their hashes/ }));
  await keyboard.press('Enter');
  const stated = files.getByRole('listitem').filter({ hasText: '/index.html' });
  const served = await page.request.get(`${relay.url}/index.html`);
  const hash = await page.evaluate(
    async (text) => {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      return btoa(String.fromCharCode(...new Uint8Array(digest)));
    },
    await served.text(),
  );
  await expect(stated).toContainText(hash.replaceAll('+', '-').replaceAll('/', '_').replace('=', ''));

  await keyboard.tabTo(page.getByRole('button', { name: 'Let Anna and Bert begin' }));
  await keyboard.press('Enter');
  await expect(page.getByText('neither browser raises an alarm')).toBeVisible();
  const anna = page.getByRole('region', { name: 'Anna sees' });
  const bert = page.getByRole('region', { name: 'Bert sees' });
  await expect(anna.getByText('Gladly. Where?')).toBeVisible();
  await keyboard.tabTo(page.getByRole('button', { name: 'Drop a message' }), { within: 60 });
  await keyboard.press('Enter');
  await expect(page.getByText('Noticed by Anna’s browser.')).toBeVisible();
  await expect(anna.getByText('1 message from Bert did not arrive.')).toBeVisible();
  await expect(anna.getByText('At the harbour, gate 7.')).toHaveCount(0);
  await expect(bert.getByText('At the harbour, gate 7.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Drop a message' })).toBeFocused();

  // The others, each with what Anna reads of it.
  for (const [trick, how, read] of [
    ['Swap two', 'You gave Anna two of Bert’s messages in the wrong order.', diverged],
    ['Replay one', 'You gave Anna one of Bert’s messages a second time.', unread],
    ['Change a byte', 'You changed a single byte of a message.', unread],
    ['Swap Bert’s key', 'You told Anna that Bert has another key: your own.', 'Is this still Bert?'],
    ['Add a device', 'You made a device, called it Bert’s,', 'was refused by your browser.'],
    ['Go back in time', 'You took Anna’s server back', '1 message from Bert did not arrive.'],
  ] as const) {
    await page.getByRole('button', { name: trick }).click();
    await expect(page.getByText(how)).toBeVisible();
    await expect(page.getByText('Noticed by Anna’s browser.')).toBeVisible();
    await expect(anna.getByText(read)).toBeVisible();
    await expect(bert.getByText(read)).toHaveCount(0);
  }
  await page.getByRole('button', { name: 'Its duty' }).click();
  await expect(page.getByText('neither browser raises an alarm')).toBeVisible();
  await findsNoBarriers(page);
  const tooWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth;
  expect(await page.evaluate(tooWide)).toBe(false);

  // All that was started is gone with the page.
  await page.getByRole('contentinfo').getByRole('link', { name: 'About' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'About' })).toBeVisible();
  await expect.poll(() => page.workers().length).toBe(0);
});

test('who is signed in sees, beside what they wrote, what the server has of it', async ({ newBrowser }) => {
  const said = 'The ferry leaves at nine.';
  const { alice, aliceBrowser, bob } = await twoWhoTalk(newBrowser, { withMqtt: true }, said);
  const page = await aliceBrowser.newPage();
  await page.setViewportSize({ width: 320, height: 800 });
  await page.goto('/prove');
  const last = page.getByRole('region', { name: 'Your last message' });
  await last.getByRole('button', { name: 'Show what the server has' }).press('Enter');
  await expect(last.getByText(said, { exact: true })).toBeVisible();
  await expect(last.getByRole('heading', { name: 'You wrote to bob' })).toBeVisible();
  await expect(last.getByText('It is what this browser sent, to the last byte')).toBeVisible();
  await expect(last.getByText('Not a piece of your text is to be found')).toBeVisible();
  // The kind of content, and the id of the conversation, are for the server to read.
  await expect(last.getByText('application', { exact: true })).toBeVisible();
  await expect(last.getByText(/^direct:/)).toBeVisible();
  await findsNoBarriers(page);
  const tooWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth;
  expect(await page.evaluate(tooWide)).toBe(false);

  // The other tab goes on as if nothing had been looked at.
  await alice.send('Take the stairs.');
  await bob.sees(said, 'Take the stairs.');
  await last.getByRole('button', { name: 'Ask again' }).press('Enter');
  await expect(last.getByText('Take the stairs.', { exact: true })).toBeVisible();
  await expect(last.getByText('It is what this browser sent, to the last byte')).toBeVisible();
});
