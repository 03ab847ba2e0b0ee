import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { becomeContacts, type Person } from '../e2e/support/person.ts';
import { test } from '../e2e/support/test.ts';

const folder = join(import.meta.dirname, '..', '..', 'src', 'pages', 'landing', 'pictures');
/** Quality of the WebP: text stays crisp, and a picture has about 40 KB. */
const quality = 72;

const screens = {
  conversation: { width: 1200, height: 750, deviceScaleFactor: 1.5 },
  phone: { width: 360, height: 720, deviceScaleFactor: 2 },
};

/** Without what one puts aside on the first day. */
async function tidy({ page }: Person): Promise<void> {
  await page.getByRole('button', { name: 'Later' }).click();
  const bell = page.getByRole('button', { name: /^Notifications, / });
  if (await bell.isVisible()) {
    await bell.click();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.keyboard.press('Escape');
  }
  await page.mouse.move(0, 0);
}

/** In both themes. Chromium alone writes WebP, and by its own protocol. */
async function take(page: Page, name: keyof typeof screens): Promise<void> {
  const { width, height, deviceScaleFactor } = screens[name];
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor,
    mobile: false,
  });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(async () => {
      await document.fonts.ready;
      (document.activeElement as HTMLElement | null)?.blur();
      for (const time of document.querySelectorAll('time')) time.textContent = '6:42 PM';
    });
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
    await writeFile(join(folder, `${name}-${colorScheme}.webp`), Buffer.from(data, 'base64'));
  }
  await session.detach();
}

async function says(person: Person, listener: Person, text: string): Promise<void> {
  await person.openChat(listener);
  await person.send(text);
}

test('the product, in the pictures of its landing page', async ({ newBrowser }) => {
  test.setTimeout(600_000);
  const people = new Map<string, Person>();
  for (const name of ['Aino', 'Veikko', 'Kaisa', 'Eino', 'Helmi', 'Otso']) {
    const { person } = await newBrowser(name, { serviceWorkers: 'block' });
    await person.signUp();
    people.set(name, person);
  }
  const [aino, veikko, kaisa, eino, helmi, otso] = [...people.values()] as [
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
  ];
  for (const friend of [veikko, kaisa, eino, helmi, otso]) await becomeContacts(aino, friend);

  await says(eino, aino, 'The boat is in the water.');
  await says(helmi, aino, 'Thank you for the recipe!');
  await says(otso, aino, 'Tickets are booked.');
  await says(veikko, aino, 'Are you coming to the cabin on Saturday?');
  await says(aino, veikko, 'Yes, with the early train.');
  await aino.send('Shall I bring something?');
  await says(veikko, aino, 'Only yourself. And perhaps the cardamom buns.');
  await veikko.send('Sauna at seven?');
  await aino.sees('Sauna at seven?');
  await aino.send('Gladly. I will bring cloudberries too.');
  await tidy(aino);
  await take(aino.page, 'conversation');

  await aino.createGroup('Saturday sailors');
  await aino.addMember(kaisa);
  await aino.addMember(eino);
  await kaisa.openGroup('Saturday sailors');
  await eino.openGroup('Saturday sailors');
  await aino.send('Nine o’clock at the pier?');
  await kaisa.sees('Nine o’clock at the pier?');
  await kaisa.send('I bring the charts.');
  await eino.sees('I bring the charts.');
  await eino.send('And I the coffee.');
  await kaisa.sees('And I the coffee.');
  await tidy(kaisa);
  await kaisa.page.setViewportSize({ width: screens.phone.width, height: screens.phone.height });
  await take(kaisa.page, 'phone');
});
