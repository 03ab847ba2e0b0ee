import { Buffer } from 'node:buffer';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readZip } from '../support/zip.ts';
import { findsNoBarriers } from './support/axe.ts';
import { twoFriends } from './support/friends.ts';
import { dropPictures, pastePhotograph, place } from './support/photograph.ts';
import { expect, test } from './support/test.ts';

test('a photograph and a document reach a friend, without the place and without a stranger seeing them', async ({
  browser,
  newBrowser,
}, testInfo) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await bob.openChat(alice);
  // Saving asks nobody where, as in browsers that have no dialog for it.
  await bob.page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));

  await test.step('a picture is pasted, described, and sent with a caption', async () => {
    await alice.page.getByRole('textbox', { name: /Message/ }).focus();
    await pastePhotograph(alice.page);
    await alice.page.getByLabel('Description of IMG_2041.jpg').fill('A boat on a blue lake');
    await findsNoBarriers(alice.page);
    await alice.page.getByRole('textbox', { name: /Message/ }).fill('From the shore');
    await alice.page.getByRole('textbox', { name: /Message/ }).press('Enter');
  });

  await test.step('the friend sees it, and finds nothing of the place in it', async () => {
    const picture = bob.page.getByRole('img', { name: 'A boat on a blue lake' });
    await expect(picture).toBeVisible();
    await expect(bob.page.getByText('From the shore').last()).toBeVisible();
    await expect(picture).toHaveJSProperty('naturalWidth', 1200);
    await bob.page.getByRole('button', { name: 'View: A boat on a blue lake' }).click();
    await expect(bob.page.getByRole('dialog').getByText('Picture 1 of 1')).toBeVisible();
    await findsNoBarriers(bob.page);
    const [download] = await Promise.all([
      bob.page.waitForEvent('download'),
      bob.page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    expect(download.suggestedFilename()).toBe('IMG_2041.webp');
    expect(bytes.subarray(8, 12).toString()).toBe('WEBP');
    expect(bytes.includes(place)).toBe(false);
    expect(bytes.includes('Exif')).toBe(false);
    await bob.page.keyboard.press('Escape');
  });

  await test.step('it is enlarged by keys, buttons and the wheel, and another one is an arrow away', async () => {
    await alice.page.getByRole('textbox', { name: /Message/ }).focus();
    await pastePhotograph(alice.page);
    await alice.page.getByLabel('Description of IMG_2041.jpg').fill('The same boat, later');
    await alice.page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(bob.page.getByRole('button', { name: 'View: The same boat, later' })).toBeEnabled();
    await bob.page.getByRole('button', { name: 'View: A boat on a blue lake' }).click();
    const viewer = bob.page.getByRole('dialog');
    const large = viewer.getByRole('img', { name: 'A boat on a blue lake' });
    await expect(large).toBeVisible();
    await expect(viewer.getByRole('button', { name: 'Zoom out' })).toBeDisabled();
    await bob.page.keyboard.press('+');
    await expect(viewer.getByText('150 %')).toBeVisible();
    await viewer.getByRole('button', { name: 'Zoom in' }).click();
    await expect(viewer.getByText('225 %')).toBeVisible();
    await bob.page.keyboard.press('ArrowRight');
    await expect(large).toHaveCSS('transform', /^matrix\(2.25, 0, 0, 2.25, -80, 0\)$/);
    await bob.page.keyboard.press('-');
    await bob.page.keyboard.press('0');
    await expect(viewer.getByText('100 %')).toBeVisible();
    await large.hover();
    await bob.page.mouse.wheel(0, -100);
    await expect(viewer.getByText('115 %')).toBeVisible();
    await bob.page.keyboard.press('0');
    await bob.page.keyboard.press('ArrowRight');
    await expect(viewer.getByRole('img', { name: 'The same boat, later' })).toBeVisible();
    await expect(viewer.getByText('Picture 2 of 2')).toBeVisible();
    await expect(viewer.getByRole('button', { name: 'Next picture' })).toBeDisabled();
    await viewer.getByRole('button', { name: 'Previous picture' }).click();
    await expect(large).toBeVisible();
    await bob.page.keyboard.press('Escape');
  });

  await test.step('a page that claims to be a picture is a file to download, and nothing else', async () => {
    const chosen = alice.page.locator('input[type=file]');
    await chosen.setInputFiles({
      name: 'card.png',
      mimeType: 'image/png',
      buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    });
    await alice.page.getByRole('button', { name: 'Send' }).click();
    await expect(bob.page.getByRole('button', { name: 'Download card.png' })).toBeVisible();
    await expect(bob.page.getByRole('img')).toHaveCount(2);
  });

  await test.step('a picture of more pixels than fit is not sent, and a sentence says why', async () => {
    const header = Buffer.from('89504e470d0a1a0a0000000d494844520000753000007530080600000000000000', 'hex');
    await alice.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'wall.png', mimeType: 'image/png', buffer: header });
    const tray = alice.page.getByRole('list', { name: 'Files of the next message' });
    await expect(tray).toContainText('too large to be read here: 30,000 × 30,000 pixels.');
    await tray.getByRole('button', { name: 'Remove wall.png' }).click();
    await expect(tray).toBeHidden();
  });

  await test.step('the friend takes them along: a page beside them shows them without a network', async () => {
    await bob.tab('Profile').click();
    await bob.page.getByRole('switch', { name: 'With files' }).click();
    await expect(bob.page.getByText(/^About [\d.]+ kB in 3 files$/)).toBeVisible();
    await findsNoBarriers(bob.page);
    const [download] = await Promise.all([
      bob.page.waitForEvent('download'),
      bob.page.getByRole('button', { name: 'Download HTML' }).click(),
    ]);
    await expect(bob.toast('Your data export has been generated, with 3 files')).toBeVisible();
    expect(download.suggestedFilename()).toMatch(/^sinetti-user-data-[\d-]{10}\.zip$/);
    const folder = testInfo.outputPath('unpacked');
    const parts = readZip(await readFile(await download.path()));
    expect([...parts.keys()]).toEqual([
      'files/IMG_2041.webp',
      'files/IMG_2041 (2).webp',
      'files/card.png',
      'user-data.html',
    ]);
    for (const [name, content] of parts) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
    const context = await browser.newContext({ offline: true });
    const reader = await context.newPage();
    const complaints: string[] = [];
    reader.on('console', (message) => complaints.push(message.text()));
    await reader.goto(pathToFileURL(path.join(folder, 'user-data.html')).href);
    for (const name of ['A boat on a blue lake', 'The same boat, later'])
      await expect(reader.getByRole('img', { name })).toHaveJSProperty('naturalWidth', 1200);
    await findsNoBarriers(reader);
    await reader.getByRole('link', { name: 'IMG_2041.webp' }).first().click();
    await expect(reader).toHaveURL(/files\/IMG_2041\.webp$/);
    expect(complaints).toEqual([]);
    await context.close();
  });

  await test.step('a picture is answered with a word, reacted to, and taken back from everybody', async () => {
    await bob.tab('Messages').click();
    await bob.openChat(alice);
    const menuOf = async (person: typeof alice, name: string) => {
      const bubble = person.page.getByRole('article').filter({ has: person.page.getByRole('img', { name }) });
      await bubble.getByRole('button', { name: 'Message actions' }).click();
      return person.page.getByRole('menu', { name: 'Message actions' });
    };
    await (await menuOf(bob, 'The same boat, later')).getByRole('menuitem', { name: 'Reply' }).click();
    await bob.page.getByRole('textbox', { name: /Message/ }).fill('Whose is it?');
    await bob.page.getByRole('textbox', { name: /Message/ }).press('Enter');
    await expect(alice.page.getByRole('button', { name: /^In reply to/ })).toBeVisible();
    await (await menuOf(bob, 'The same boat, later'))
      .getByRole('menuitemcheckbox', { name: 'React with ❤️' })
      .click();
    await expect(alice.page.getByRole('button', { name: /❤️/ }).first()).toBeVisible();
    await (await menuOf(alice, 'The same boat, later')).getByRole('menuitem', { name: 'Delete' }).click();
    await alice.page.getByRole('button', { name: 'Delete for everyone' }).click();
    for (const { page } of [alice, bob]) {
      await expect(page.getByRole('img', { name: 'The same boat, later' })).toHaveCount(0);
      await expect(page.getByRole('button', { name: 'View: The same boat, later' })).toHaveCount(0);
    }
    await findsNoBarriers(bob.page);
  });

  await test.step('two pictures that are dropped come in one message, blurred until they are there', async () => {
    let arrive = () => {};
    const isTime = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await bob.page.route('**/api/blobs/*', async (route) => {
      await isTime;
      await route.fallback();
    });
    await dropPictures(alice.page, 'quay.png', 'mast.png');
    await alice.page.getByLabel('Description of quay.png').fill('The quay');
    await alice.page.getByLabel('Description of mast.png').fill('The mast');
    await alice.page.getByRole('button', { name: 'Send', exact: true }).click();
    const [quay, mast] = ['The quay', 'The mast'].map((name) => bob.page.getByRole('img', { name }));
    if (quay === undefined || mast === undefined) throw new Error('two pictures');
    for (const picture of [quay, mast]) await expect(picture).toHaveCSS('filter', /^blur/);
    await expect(bob.page.getByRole('article').filter({ has: quay }).filter({ has: mast })).toHaveCount(1);
    await expect(bob.page.getByRole('button', { name: 'View: The mast' })).toBeDisabled();
    await expect(quay).toHaveJSProperty('naturalWidth', 320);
    arrive();
    for (const picture of [quay, mast]) await expect(picture).toHaveCSS('filter', 'none');
    await expect(quay).toHaveJSProperty('naturalWidth', 1200);
    await findsNoBarriers(bob.page);
    await bob.page.getByRole('button', { name: 'View: The quay' }).press('Enter');
    await expect(bob.page.getByRole('dialog').getByRole('img', { name: 'The quay' })).toBeVisible();
    await bob.page.keyboard.press('ArrowRight');
    await expect(bob.page.getByRole('dialog').getByRole('img', { name: 'The mast' })).toBeVisible();
  });
});
