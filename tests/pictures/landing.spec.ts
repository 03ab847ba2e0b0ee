import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { becomeContacts, type Person } from '../e2e/support/person.ts';
import { expect, test } from '../e2e/support/test.ts';

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

/** An evening at the lake, painted here: a photograph would be somebody's. */
async function paintLake(page: Page): Promise<Buffer> {
  const painted = await page.evaluate(async () => {
    const [width, height, shore] = [1600, 640, 360];
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('no canvas');
    const fill = (from: number, to: number, ...colours: string[]) => {
      const gradient = context.createLinearGradient(0, from, 0, to);
      for (const [at, colour] of colours.entries()) gradient.addColorStop(at / (colours.length - 1), colour);
      context.fillStyle = gradient;
    };
    fill(0, shore, '#35507a', '#8a7d9c', '#e7a57e', '#f8d59a');
    context.fillRect(0, 0, width, shore);
    context.fillStyle = '#fff0cf';
    context.beginPath();
    context.arc(1090, 300, 38, 0, 2 * Math.PI);
    context.fill();
    const hills = (base: number, rise: number, colour: string, pace: number) => {
      context.fillStyle = colour;
      context.beginPath();
      context.moveTo(0, shore);
      for (let x = 0; x <= width; x += 4) {
        const line = Math.sin(x / pace) + 0.5 * Math.sin(x / (pace / 2.7) + 1) + 0.06 * Math.sin(x / 5);
        context.lineTo(x, base - rise * line);
      }
      context.lineTo(width, shore);
      context.fill();
    };
    hills(315, 16, '#6d6a86', 190);
    hills(338, 11, '#3c4a5c', 120);
    fill(shore, height, '#e9b088', '#8d7f96', '#31496e');
    context.fillRect(0, shore, width, height - shore);
    for (let line = 0; line < 46; line += 1) {
      const y = shore + 4 + (line * line) / 8;
      const reach = 26 + line * 2.6;
      context.fillStyle = `rgb(255 236 200 / ${0.5 - line / 110})`;
      context.fillRect(1090 - reach + 12 * Math.sin(line * 2.4), y, 2 * reach, 1.5 + line / 14);
    }
    context.fillStyle = '#1d2733';
    // Spruces around a cabin with a light in it, and a pier.
    for (let tree = 0; tree < 26; tree += 1) {
      const x = tree * 19 + 9 * Math.sin(tree * 5);
      const top = 190 + 60 * Math.abs(Math.sin(tree * 1.7)) + tree * 3;
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x - 26, 385);
      context.lineTo(x + 26, 385);
      context.fill();
    }
    context.beginPath();
    context.ellipse(200, 392, 360, 26, 0, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = '#4b2f2a';
    context.fillRect(395, 318, 130, 66);
    context.fillStyle = '#141b24';
    context.beginPath();
    context.moveTo(380, 320);
    context.lineTo(460, 268);
    context.lineTo(540, 320);
    context.fill();
    context.fillStyle = '#ffcf74';
    context.fillRect(420, 338, 24, 22);
    context.fillRect(478, 338, 24, 22);
    context.fillStyle = '#1a222c';
    context.fillRect(520, 398, 250, 7);
    for (const x of [560, 640, 720, 760]) context.fillRect(x, 398, 6, 34);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  });
  return Buffer.from(painted, 'latin1');
}

/** Sends a picture. */
async function shows({ page }: Person, picture: Buffer, description: string): Promise<void> {
  const file = { name: 'lake.png', mimeType: 'image/png', buffer: picture };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByLabel('Description of lake.png').fill(description);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

/** Sends a voice message of a microphone that hears something like speech: words, and breaths between them. */
async function speaks({ page }: Person): Promise<void> {
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = async () => {
      const audio = new AudioContext();
      const voice = new OscillatorNode(audio, { frequency: 140, type: 'sawtooth' });
      const loudness = new GainNode(audio, { gain: 0 });
      const out = new MediaStreamAudioDestinationNode(audio);
      for (let at = 0; at < 200; at += 1) {
        const word = Math.max(0, Math.sin(at / 2.1) + 0.6 * Math.sin(at / 0.7 + 2));
        loudness.gain.linearRampToValueAtTime(0.04 + 0.3 * word, audio.currentTime + at * 0.07);
      }
      voice.connect(loudness).connect(out);
      voice.start();
      return out.stream;
    };
  });
  await page.getByRole('button', { name: 'Record a voice message' }).click();
  const recorder = page.getByRole('group', { name: 'Voice message' });
  await expect(recorder.getByRole('timer')).toHaveText('0:07');
  await recorder.getByRole('button', { name: 'Send the voice message' }).click();
}

/** Opens the menu of the message with a text, and chooses there. */
async function chooses({ page }: Person, text: string, item: RegExp): Promise<void> {
  const shown = page.getByRole('article').filter({ has: page.getByText(text, { exact: true }) });
  await shown.hover();
  await shown.getByRole('button', { name: 'Message actions' }).click();
  const menu = page.getByRole('menu');
  await menu
    .getByRole('menuitem', { name: item })
    .or(menu.getByRole('menuitemcheckbox', { name: item }))
    .click();
  await expect(menu).toHaveCount(0);
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
  await veikko.openChat(aino);
  await shows(veikko, await paintLake(veikko.page), 'The sun sets behind a lake with a cabin');
  await expect(aino.page.getByRole('button', { name: 'View: The sun sets' })).toBeEnabled();
  await speaks(veikko);
  await expect(aino.page.getByRole('button', { name: 'Play: Voice message' })).toBeVisible();
  await veikko.send('Sauna at seven?');
  await aino.sees('Sauna at seven?');
  await chooses(aino, 'Sauna at seven?', /^React with ❤️$/);
  await chooses(aino, 'Sauna at seven?', /^Reply$/);
  await aino.page.keyboard.type('Gladly. I will bring cloudberries.');
  await aino.page.keyboard.press('Enter');
  await veikko.sees('Gladly. I will bring cloudberries.');
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
