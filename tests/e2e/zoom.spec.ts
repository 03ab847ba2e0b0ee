import type { Page } from '@playwright/test';
import { findsNoBarriers } from './support/axe.ts';
import { fits } from './support/layout.ts';
import { expect, test } from './support/test.ts';
import { peopleInTalk, tourOfNewcomers, tourOfPeopleInTalk, tourOfVisitors } from './support/tour.ts';

/** A small phone, and a window of 1280 by 800 at 200 %: half as many pixels of CSS, each twice as large. */
const windows = [
  { what: 'a small phone', viewport: { width: 320, height: 640 }, deviceScaleFactor: 2 },
  { what: 'a window at 200 %', viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
] as const;

async function isRight(page: Page, screen: string): Promise<void> {
  await test.step(screen, async () => {
    await fits(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await findsNoBarriers(page);
    }
  });
}

for (const { what, ...options } of windows) {
  test(`${what} shows visitors everything, without barriers`, async ({ newBrowser }) => {
    test.setTimeout(180_000);
    const { person } = await newBrowser('visitor', options);
    await tourOfVisitors(person.page, isRight);
  });

  test(`${what} shows somebody new everything, without barriers`, async ({ newBrowser }) => {
    test.setTimeout(240_000);
    const { person } = await newBrowser('aino', options);
    await person.signUp();
    await tourOfNewcomers(person.page, isRight);
  });

  test(`${what} shows people in talk everything, without barriers`, async ({ newBrowser }) => {
    test.setTimeout(300_000);
    const { aino, mikael } = await peopleInTalk(newBrowser);
    await aino.page.setViewportSize(options.viewport);
    await tourOfPeopleInTalk(aino.page, mikael.username, isRight);
    await expect(aino.page).toHaveURL('/dashboard');
  });
}
