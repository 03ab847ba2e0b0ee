import { Buffer } from 'node:buffer';
import type { Page } from '@playwright/test';
import { wholeBrowser } from './browser.mjs';
import { findsNoBarriers } from './support/axe.ts';
import { reads } from './support/failing.ts';
import { film } from './support/film.ts';
import { twoFriends } from './support/friends.ts';
import { expect, test } from './support/test.ts';

// The engine alone has no microphone.
test.use(wholeBrowser);

/** A sound in WAV, of a tone: 96 kB for each second. */
function tone(seconds: number): Buffer {
  const rate = 48_000;
  const samples = new Int16Array(rate * seconds).map((_, at) => Math.sin(at / 17) * 8000);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

const position = (page: Page, name: string) => page.getByRole('slider', { name: `Position: ${name}` });

test('a voice message is recorded, discarded, listened to, sent and heard', async ({ newBrowser }) => {
  const { alice, aliceBrowser, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await bob.openChat(alice);
  const { page } = alice;
  const record = page.getByRole('button', { name: 'Record a voice message' });
  const recorder = page.getByRole('group', { name: 'Voice message' });
  await aliceBrowser.grantPermissions(['microphone']);

  await test.step('a recording that is discarded is gone', async () => {
    await record.click();
    await expect(recorder.getByText('Recording')).toBeAttached();
    await expect(recorder.getByRole('timer')).toHaveText('0:01');
    await findsNoBarriers(page);
    await recorder.getByRole('button', { name: 'Discard the recording' }).click();
    await expect(record).toBeVisible();
    await expect(page.getByRole('list', { name: 'Files of the next message' })).toBeHidden();
  });

  await test.step('one that is stopped waits, and can be listened to', async () => {
    await record.click();
    await expect(recorder.getByRole('timer')).toHaveText('0:02');
    await recorder.getByRole('button', { name: /^Stop/ }).click();
    const waiting = page.getByRole('list', { name: 'Files of the next message' });
    await waiting.getByRole('button', { name: 'Play: Voice message' }).click();
    await expect(waiting.getByRole('button', { name: 'Pause: Voice message' })).toBeVisible();
    await findsNoBarriers(page);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  });

  await test.step('the friend hears it, moves in it, and hears it faster', async () => {
    await bob.page.getByRole('button', { name: 'Play: Voice message' }).click();
    await expect(bob.page.getByRole('button', { name: 'Pause: Voice message' })).toBeVisible();
    await expect(bob.page.locator('audio')).toHaveJSProperty('error', null);
    const slider = position(bob.page, 'Voice message');
    await expect(slider).toHaveAttribute('aria-valuetext', /0:0[12] of 0:0[23]/);
    await bob.page.getByRole('button', { name: 'Speed: 1 times' }).click();
    await expect(bob.page.locator('audio')).toHaveJSProperty('playbackRate', 1.5);
    await expect(bob.page.getByRole('button', { name: 'Play: Voice message' })).toBeVisible();
    await slider.press('ArrowRight');
    await expect(slider).toHaveAttribute('aria-valuetext', /0:01 of/);
    await findsNoBarriers(bob.page);
  });

  await test.step('who doesn’t allow the microphone is told so, and can write on', async () => {
    await aliceBrowser.clearPermissions();
    await record.click();
    await reads(
      alice,
      'The microphone was not allowed. You can allow it in the browser’s settings for this page.',
    );
    await expect(recorder).toBeHidden();
    await alice.send('Then I write it');
  });
});

test('a long sound plays before it is there, and a film in the message', async ({ newBrowser }) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await bob.openChat(alice);
  await bob.comesBack(alice);

  await test.step('a sound plays while most of it can’t be had, and from elsewhere once it can', async () => {
    await alice.sendFile({ name: 'lake.wav', mimeType: 'audio/wav', buffer: tone(90) });
    const asked: string[] = [];
    let isHeld = true;
    await bob.page.route('**/api/blobs/*', async (route) => {
      const { range = '' } = route.request().headers();
      asked.push(range);
      const from = Number(/^bytes=(\d+)-/.exec(range)?.[1]);
      // It stays away, as on a slow line.
      if (isHeld && from >= 3 * 524_416) return;
      await route.continue();
    });
    await bob.page.getByRole('button', { name: 'Play: lake.wav' }).click();
    await expect(position(bob.page, 'lake.wav')).toHaveAttribute('aria-valuetext', /0:0[1-9] of 1:30/);
    // Three of its sixteen pieces are there; a player may ask ahead for some.
    expect(new Set(asked).size).toBeLessThan(8);
    await findsNoBarriers(bob.page);
    isHeld = false;
  });

  await test.step('a film shows its still, and plays alone', async () => {
    await alice.sendFile({ name: 'boat.webm', mimeType: 'video/webm', buffer: await film(alice.page) });
    await bob.page.getByRole('button', { name: 'Play: Film: boat.webm' }).click();
    const shown = bob.page.locator('video');
    await expect(shown).toHaveJSProperty('videoWidth', 320);
    await expect(shown).toHaveAttribute('src', /^\/media\/[\w-]{36}$/);
    await expect(bob.page.locator('audio')).toHaveJSProperty('paused', true);
    await findsNoBarriers(bob.page);
  });

  await test.step('its address is worth nothing to a script, or to a person who opens it', async () => {
    const address = (await bob.page.locator('video').getAttribute('src')) ?? '';
    const refused = (page: Page) =>
      page.evaluate(async (url) => (await fetch(url, { headers: { range: 'bytes=0-' } })).status, address);
    expect(await refused(bob.page)).toBe(404);
    const tab = await bob.page.context().newPage();
    const answered = tab.waitForEvent('response');
    // An empty refusal is shown by no page.
    await tab.goto(address).catch(() => undefined);
    expect((await answered).status()).toBe(404);
    await tab.close();
  });
});
