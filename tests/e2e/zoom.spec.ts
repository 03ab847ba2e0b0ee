import type { Page } from '@playwright/test';
import { localeStorageKey } from '../../src/i18n/locales.ts';
import { wholeBrowser } from './browser.mjs';
import { findsNoBarriers } from './support/axe.ts';
import { fits } from './support/layout.ts';
import { expect, test } from './support/test.ts';
import {
  peopleInTalk,
  startOver,
  tourOfNewcomers,
  tourOfPeopleInTalk,
  tourOfVisitors,
  twoWithAMessage,
} from './support/tour.ts';
import { tourOfMessages } from './support/tourOfMessages.ts';

// The engine alone has no microphone.
test.use(wholeBrowser);

/** A small phone, and a window of 1280 by 800 at 200 %: half as many pixels of CSS, each twice as large. */
const smallPhone = { width: 320, height: 640 };
const zoomedWindow = { width: 640, height: 400 };
const options = { viewport: smallPhone, deviceScaleFactor: 2 };

/** Each screen is looked at in both sizes, and left in that of the phone. */
async function isRight(page: Page, screen: string): Promise<void> {
  await test.step(screen, async () => {
    for (const size of [zoomedWindow, smallPhone]) {
      await page.setViewportSize(size);
      await fits(page);
      await findsNoBarriers(page);
    }
    // Colours are the same in both sizes.
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await findsNoBarriers(page, 'theme');
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  });
}

/** Expects everything that cuts off its content to hold the whole of every tag that says this. */
async function isWhole(page: Page, text: string): Promise<void> {
  const tags = page.getByText(text, { exact: true });
  await expect(tags.first()).toBeVisible();
  const cut = await tags.evaluateAll((found) =>
    found.flatMap((tag) => {
      const box = tag.getBoundingClientRect();
      const around: string[] = [];
      for (let each: Element | null = tag; each !== null; each = each.parentElement) {
        const { overflowY } = getComputedStyle(each);
        const { top, bottom } = each.getBoundingClientRect();
        const holds =
          each.scrollHeight <= each.clientHeight && top <= box.top + 0.1 && bottom >= box.bottom - 0.1;
        if ((overflowY === 'hidden' || overflowY === 'clip') && !holds)
          around.push(each.outerHTML.slice(0, 120));
      }
      return around;
    }),
  );
  expect(cut).toEqual([]);
}

test('a tag is whole in its line, at any width and zoom and in both languages', async ({ newBrowser }) => {
  const { person: aino } = await newBrowser('aino', { deviceScaleFactor: 2 });
  const { page } = aino;
  await aino.signUp();
  await aino.createGroup('Saturday sailors');
  for (const { locale, creator, you, details } of [
    { locale: 'en', creator: 'Creator', you: 'You', details: 'Group Details' },
    { locale: 'fi', creator: 'Perustaja', you: 'Sinä', details: 'Ryhmän tiedot' },
  ]) {
    await page.evaluate(
      ([key = '', value = '']) => localStorage.setItem(key, value),
      [localeStorageKey, locale],
    );
    await startOver(page);
    await page.getByRole('tab').nth(1).click();
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      await isWhole(page, creator);
    }
    await page.getByRole('listitem').filter({ hasText: 'Saturday sailors' }).getByRole('button').click();
    await page.getByRole('button', { name: details }).click();
    for (const width of [1440, 768, 640, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await isWhole(page, creator);
      await isWhole(page, you);
    }
  }
});

test('a small phone and a window at 200 % show visitors everything, without barriers', async ({
  newBrowser,
}) => {
  const { person } = await newBrowser('visitor', options);
  await tourOfVisitors(person.page, isRight);
});

test('a small phone and a window at 200 % show somebody new everything, without barriers', async ({
  newBrowser,
}) => {
  const { person } = await newBrowser('aino', options);
  await person.signUp();
  await tourOfNewcomers(person.page, isRight);
});

test('a small phone and a window at 200 % show people in talk everything, without barriers', async ({
  newBrowser,
}) => {
  const { aino, mikael } = await peopleInTalk(newBrowser);
  await aino.page.setViewportSize(smallPhone);
  await tourOfPeopleInTalk(aino.page, mikael.username, isRight);
  await expect(aino.page).toHaveURL('/dashboard');
});

test('a small phone and a window at 200 % show all that opens about messages and files, without barriers', async ({
  newBrowser,
}) => {
  const { aino, mikael } = await twoWithAMessage(newBrowser, options);
  await aino.page.setViewportSize(smallPhone);
  await tourOfMessages(aino.page, mikael.username, isRight);
});
