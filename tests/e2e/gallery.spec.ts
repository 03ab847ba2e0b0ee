import { Buffer } from 'node:buffer';
import type { Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { film } from './support/film.ts';
import { twoFriends } from './support/friends.ts';
import { fits } from './support/layout.ts';
import { expect, test } from './support/test.ts';

/** Pictures of one colour each, as files to choose. */
async function pictures(page: Page, ...names: readonly string[]) {
  const drawn = await page.evaluate(
    (hues) =>
      hues.map((hue) => {
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [320, 240];
        const context = canvas.getContext('2d');
        if (context !== null) {
          context.fillStyle = `hsl(${hue} 60% 50%)`;
          context.fillRect(0, 0, 320, 240);
        }
        return canvas.toDataURL('image/png');
      }),
    names.map((_, at) => at * 40),
  );
  return names.map((name, at) => ({
    name: `${name}.png`,
    mimeType: 'image/png',
    buffer: Buffer.from(drawn[at]?.split(',')[1] ?? '', 'base64'),
  }));
}

const button = (page: Page) => page.getByRole('button', { name: 'Media and files' });
const gallery = (page: Page) => page.getByRole('dialog', { name: 'Media and files' });
const tile = (page: Page, name: string) =>
  gallery(page).getByRole('button', { name: new RegExp(`^View: .*${name}`) });

async function sends(page: Page, files: Awaited<ReturnType<typeof pictures>>): Promise<void> {
  await page.locator('input[type=file]').setInputFiles(files);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

test('all pictures, films, files and sounds of a chat are in one place, and lead to their messages', async ({
  newBrowser,
}) => {
  const { alice, aliceBrowser, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await bob.openChat(alice);

  await test.step('an empty one says what will be there', async () => {
    await button(alice.page).click();
    await expect(gallery(alice.page).getByText('No pictures or films yet')).toBeVisible();
    await findsNoBarriers(alice.page);
    await alice.page.keyboard.press('Escape');
    await expect(button(alice.page)).toBeFocused();
  });

  await alice.send('The first of many');
  await sends(alice.page, await pictures(alice.page, 'lake', 'boat', 'shore'));
  await bob.sees('The first of many');
  await sends(alice.page, [{ name: 'boat.webm', mimeType: 'video/webm', buffer: await film(alice.page) }]);
  await sends(alice.page, [
    { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') },
  ]);
  await expect(bob.page.getByRole('button', { name: 'Download plan.pdf' })).toBeVisible();

  await test.step('it has what came, newest first, and leads by keys', async () => {
    await button(bob.page).click();
    await expect(tile(bob.page, 'lake')).toBeVisible();
    const names = await gallery(bob.page)
      .getByRole('button', { name: /^View: / })
      .evaluateAll((tiles) =>
        tiles.map(
          (one) => /^View: (?:Film|Picture): ([a-z.]+),/.exec(one.getAttribute('aria-label') ?? '')?.[1],
        ),
      );
    expect(names).toEqual(['boat.webm', 'shore.webp', 'boat.webp', 'lake.webp']);
    await findsNoBarriers(bob.page);
    await tile(bob.page, 'boat.webm').focus();
    await bob.page.keyboard.press('ArrowRight');
    await expect(tile(bob.page, 'shore')).toBeFocused();
    await bob.page.setViewportSize({ width: 360, height: 740 });
    // In three columns the last one stands below the first.
    await tile(bob.page, 'boat.webm').focus();
    await bob.page.keyboard.press('ArrowDown');
    await expect(tile(bob.page, 'lake')).toBeFocused();
    await bob.page.keyboard.press('ArrowUp');
    await expect(tile(bob.page, 'boat.webm')).toBeFocused();
    await fits(bob.page);
    await bob.page.setViewportSize({ width: 1280, height: 720 });
  });

  await test.step('a picture opens large, leads to the ones before it, and to its message', async () => {
    await tile(bob.page, 'shore').click();
    const viewer = bob.page.getByRole('dialog', { name: 'shore.webp' });
    await expect(viewer.getByRole('img', { name: 'Picture: shore.webp' })).toHaveJSProperty(
      'naturalWidth',
      320,
    );
    await findsNoBarriers(bob.page);
    await bob.page.keyboard.press('ArrowLeft');
    await expect(bob.page.getByRole('dialog', { name: 'boat.webp' })).toBeVisible();
    await bob.page.keyboard.press('ArrowLeft');
    await bob.page
      .getByRole('dialog', { name: 'lake.webp' })
      .getByRole('button', { name: 'Go to message' })
      .click();
    await expect(bob.page.getByRole('dialog')).toHaveCount(0);
    await expect(
      bob.page
        .getByRole('listitem')
        .filter({ has: bob.page.getByRole('button', { name: /lake/ }) })
        .last(),
    ).toBeFocused();
  });

  await test.step('a film plays there', async () => {
    await button(bob.page).click();
    await tile(bob.page, 'boat.webm').click();
    await bob.page.getByRole('button', { name: 'Play: Film: boat.webm' }).click();
    await expect(bob.page.locator('[role=dialog] video')).toHaveJSProperty('videoWidth', 320);
    await findsNoBarriers(bob.page);
    await bob.page.keyboard.press('Escape');
    await expect(tile(bob.page, 'boat.webm')).toBeFocused();
  });

  await test.step('files are a list of their own', async () => {
    await gallery(bob.page).getByRole('tab', { name: 'Files' }).click();
    await expect(gallery(bob.page).getByText('plan.pdf')).toBeVisible();
    await findsNoBarriers(bob.page);
    await gallery(bob.page).getByRole('tab', { name: 'Audio' }).click();
    await expect(gallery(bob.page).getByText('No voice messages or sounds yet')).toBeVisible();
    await gallery(bob.page).getByRole('tab', { name: 'Media' }).click();
  });

  await test.step('what comes while it is open is there, and what is deleted has left, without the network too', async () => {
    await sends(alice.page, await pictures(alice.page, 'later'));
    await expect(tile(bob.page, 'later')).toBeVisible();
    const row = alice.page
      .getByRole('article')
      .filter({ has: alice.page.getByRole('button', { name: /later/ }) });
    await expect(row.getByTitle('Sending')).toHaveCount(0);
    await row.getByRole('button', { name: 'Message actions' }).press('Enter');
    await alice.page.getByRole('menuitem', { name: 'Delete', exact: true }).press('Enter');
    await alice.page.getByRole('button', { name: 'Delete for everyone' }).click();
    await expect(tile(bob.page, 'later')).toHaveCount(0);
    await bob.page.keyboard.press('Escape');
    await aliceBrowser.setOffline(true);
    await button(alice.page).click();
    await expect(tile(alice.page, 'lake')).toBeVisible();
    await expect(tile(alice.page, 'later')).toHaveCount(0);
    await expect(
      gallery(alice.page).getByText(/^Offline: what this browser has not loaded yet/),
    ).toBeVisible();
    await findsNoBarriers(alice.page);
    await aliceBrowser.setOffline(false);
  });
});

test('the details of a group have its gallery, which leads out of them on a phone', async ({
  newBrowser,
}) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.createGroup('Sailors');
  await alice.addMember(bob);
  await bob.openGroup('Sailors');
  await sends(alice.page, await pictures(alice.page, 'lake'));
  await expect(bob.page.getByRole('button', { name: 'View: Picture: lake.webp' })).toBeEnabled();
  await bob.page.setViewportSize({ width: 360, height: 740 });
  await bob.openDetails();
  await bob.details.getByRole('button', { name: 'Media and files' }).click();
  await fits(bob.page);
  await tile(bob.page, 'lake').click();
  await bob.page.getByRole('button', { name: 'Go to message' }).click();
  await expect(bob.page.getByRole('dialog')).toHaveCount(0);
  await expect(bob.details).toBeHidden();
  await expect(
    bob.page
      .getByRole('listitem')
      .filter({ has: bob.page.getByRole('button', { name: /lake/ }) })
      .last(),
  ).toBeFocused();
});
