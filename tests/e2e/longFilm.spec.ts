import { writeFile } from 'node:fs/promises';
import type { Page, Request } from '@playwright/test';
import { film } from './support/film.ts';
import { twoFriends } from './support/friends.ts';
import { longFilm } from './support/longFilm.ts';
import { expect, test } from './support/test.ts';

/** A hundred seconds of 8 Mbit/s, as a telephone films. */
const seconds = 100;
const bytesPerSecond = 1_000_000;
const megabyte = 1_000_000;

/** Looks again and again at the bytes of files that a page holds beside its heap. @returns a function that answers the most there were */
async function watchMemory(page: Page): Promise<() => Promise<number>> {
  const client = await page.context().newCDPSession(page);
  const stop = new AbortController();
  const look = async () => {
    await client.send('HeapProfiler.collectGarbage');
    const usage = (await client.send('Runtime.getHeapUsage')) as { backingStorageSize: number };
    return usage.backingStorageSize;
  };
  const before = await look();
  let most = 0;
  const watching = (async () => {
    while (!stop.signal.aborted) {
      // One look may count what was let go of since the last collection; three in a row don't.
      const least = Math.min(await look(), await look(), await look());
      most = Math.max(most, least - before);
      // Collecting without a pause would leave the page no time for anything else.
      await page.waitForTimeout(500);
    }
  })();
  return async () => {
    stop.abort();
    await watching;
    await client.detach();
    return most;
  };
}

/** Counts the bytes of files that a page asks the relay for. */
function countFetched(page: Page): () => number {
  let bytes = 0;
  page.on('request', (request: Request) => {
    const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers().range ?? '') ?? [];
    if (from !== undefined && request.url().includes('/api/blobs/')) bytes += Number(last) - Number(from) + 1;
  });
  return () => bytes;
}

test('a film of 100 MB is sent, and plays before it has loaded, from anywhere in it', async ({
  newBrowser,
}, testInfo) => {
  const { alice, bob } = await twoFriends(newBrowser, { withMqtt: true });
  await alice.openChat(bob);
  await bob.openChat(alice);
  await bob.comesBack(alice);
  const path = testInfo.outputPath('boat.webm');
  const whole = longFilm(await film(alice.page), seconds, bytesPerSecond);
  expect(whole.length).toBeGreaterThan(100 * megabyte);
  await writeFile(path, whole);

  await test.step('its sender never has 2 MB of it in memory', async () => {
    await alice.page.locator('input[type=file]').setInputFiles(path);
    const most = await watchMemory(alice.page);
    await alice.page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(bob.page.getByRole('button', { name: 'Play: Film: boat.webm' })).toBeVisible({
      timeout: 240_000,
    });
    expect(await most()).toBeLessThan(2 * megabyte);
  });

  const shown = bob.page.locator('video');
  const fetched = countFetched(bob.page);
  const plays = (from: number) =>
    expect.poll(() => shown.evaluate((video: HTMLVideoElement) => video.currentTime)).toBeGreaterThan(from);
  const most = await watchMemory(bob.page);

  await test.step('it plays once a few of its hundred MB are there', async () => {
    await bob.page.getByRole('button', { name: 'Play: Film: boat.webm' }).click();
    await plays(0.5);
    await expect(shown).toHaveJSProperty('duration', seconds);
    expect(fetched()).toBeLessThan(16 * megabyte);
  });

  await test.step('near its end it plays as soon, with what is between still at the relay', async () => {
    const before = fetched();
    await shown.evaluate((video: HTMLVideoElement) => {
      video.currentTime = 90;
    });
    await plays(90.5);
    expect(fetched() - before).toBeLessThan(16 * megabyte);
    await shown.evaluate((video: HTMLVideoElement) => video.pause());
  });

  expect(await most()).toBeLessThan(2 * megabyte);
});
