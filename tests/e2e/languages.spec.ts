import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { localeStorageKey, pseudoLocale } from '../../src/i18n/locales.ts';
import { wholeBrowser } from './browser.mjs';
import { fits } from './support/layout.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';
import {
  groupName,
  peopleInTalk,
  proveAll,
  startOver,
  tourOfNewcomers,
  tourOfPeopleInTalk,
  tourOfVisitors,
  twoWithAMessage,
} from './support/tour.ts';
import { tourOfMessages, written } from './support/tourOfMessages.ts';
import { textsOn, wordsOutsideCatalogue } from './support/words.ts';

// The engine alone has no microphone.
test.use(wholeBrowser);

/** From the next page on. */
async function speak(person: Person, locale: string): Promise<void> {
  await person.page.addInitScript(
    ([key = '', value = '']) => localStorage.setItem(key, value),
    [localeStorageKey, locale],
  );
}

const data = [
  'aino',
  'mikael',
  'eino',
  'example.org',
  groupName,
  'Chrome on Linux',
  'nobody of that name',
  // The server's own sentence.
  'Wrong username or password.',
  ...written,
];

async function isFromCatalogue(page: Page, screen: string): Promise<void> {
  await test.step(screen, async () => {
    await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
    await expect.poll(() => wordsOutsideCatalogue(page, data)).toEqual([]);
    await fits(page);
  });
}

test('visitors read nothing that is not from the catalogue, from right to left', async ({ newBrowser }) => {
  const { person } = await newBrowser('aino');
  await speak(person, pseudoLocale);
  await tourOfVisitors(person.page, isFromCatalogue);
});

test('somebody new reads nothing that is not from the catalogue, from right to left', async ({
  newBrowser,
}) => {
  const { person } = await newBrowser('aino');
  await person.signUp();
  await speak(person, pseudoLocale);
  await person.page.reload();
  await tourOfNewcomers(person.page, isFromCatalogue);
});

test('people in talk read nothing that is not from the catalogue, from right to left', async ({
  newBrowser,
}) => {
  const { aino, mikael } = await peopleInTalk(newBrowser);
  await speak(aino, pseudoLocale);
  await tourOfPeopleInTalk(aino.page, mikael.username, isFromCatalogue);
});

test('what opens about messages and files has nothing that is not from the catalogue, from right to left', async ({
  newBrowser,
}) => {
  const { aino, mikael } = await twoWithAMessage(newBrowser);
  await speak(aino, pseudoLocale);
  await tourOfMessages(aino.page, mikael.username, isFromCatalogue);
});

function catalogue(language: 'en' | 'fi'): string[] {
  const folder = join(import.meta.dirname, '../../src/i18n', language);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) =>
      Object.values(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, string>),
    );
}

test('a Finn reads Finnish', async ({ newBrowser }) => {
  const finnish = new Set(catalogue('fi'));
  const english = new Set(catalogue('en').filter((text) => !finnish.has(text)));
  const { aino, mikael } = await peopleInTalk(newBrowser);
  const { page } = aino;

  const isFinnish = async (screen: string) => {
    await test.step(screen, async () => {
      await expect(page.locator('html')).toHaveAttribute('lang', 'fi');
      await expect(page.locator('html')).toHaveAttribute('dir', 'ltr');
      const texts = await textsOn(page);
      expect(texts.filter((text) => english.has(text))).toEqual([]);
      expect(texts.filter((text) => finnish.has(text)).length).toBeGreaterThan(0);
      await fits(page);
    });
  };

  await speak(aino, 'fi');
  await startOver(page);
  await expect(page.getByRole('tab')).toHaveText([/^Viestit/, /^Ryhmät/, /^Yhteystiedot/, /^Profiili/]);
  await isFinnish('the list of chats');
  await page.getByRole('listitem').filter({ hasText: mikael.username }).getByRole('button').first().click();
  await expect(page.getByRole('article').first()).toBeVisible();
  await isFinnish('a chat');
  for (const [at, screen] of ['messages', 'groups', 'contacts', 'profile'].entries()) {
    await page.getByRole('tab').nth(at).click();
    await expect(page.getByRole('tabpanel').getByRole('heading').first()).toBeVisible();
    await isFinnish(screen);
  }

  await page.getByRole('button', { name: 'Kirjaudu ulos', exact: true }).first().click();
  await expect(page).toHaveURL('/');
  for (const path of [
    '/',
    '/login',
    '/signup',
    '/contact',
    '/privacy-policy',
    '/terms',
    '/about',
    '/prove',
  ]) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await isFinnish(path);
  }
  await proveAll(page, {
    vectors: /Laske vektorit/,
    files: /Vertaa tiedostot/,
    play: /Anna ja Bert, aloittakaa/,
    trick: /Palaa ajassa taaksepäin/,
  });
  await page.getByRole('button', { name: /tiedostoa ja niiden tiivisteet/ }).click();
  await expect(page.getByText('Annan selain huomasi sen.')).toBeVisible();
  await isFinnish('what was proved');
});
