import type { Page } from '@playwright/test';
import { pseudoMarks } from '#src/i18n/locales.ts';

/** The same in every language: names of standards, of languages and of keys. */
const universal = [
  'Sinetti',
  'RFC 9420',
  'X-Wing',
  'GDPR',
  'MIT',
  'English',
  'Suomi',
  'Alt',
  'Ctrl',
  'Shift',
  'Enter',
  'Esc',
  'Del',
];

/** Matches moments as `Intl` writes them in English. */
const moment =
  /\b(?:[AP]M|at|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|January|February|March|April|June|July|August|September|October|November|December)\b/gu;

/** Matches sizes as `Intl` writes them in English. */
const measure = /\b(?:bytes?|kB|MB|GB)\b/gu;

/** Returns the words that a page shows and says, without those that people wrote and chose. */
function said(): string[] {
  const body = document.body.cloneNode(true) as HTMLElement;
  const data =
    'script, style, noscript, time, bdi, code, [role="gridcell"], article p[dir="auto"], [class*="cipher"], [class*="printedKey"], a[href^="mailto:"]';
  for (const element of body.querySelectorAll(data)) element.remove();
  const attributes = ['aria-label', 'aria-description', 'aria-valuetext', 'alt', 'placeholder', 'title'];
  const spoken = [...body.querySelectorAll('*')].flatMap((element) =>
    attributes.flatMap((name) => element.getAttribute(name) ?? []),
  );
  return [body.textContent, ...spoken];
}

/**
 * Words on screen, or told to a screen reader, that are in no text of the catalogue. For the pseudo locale, which marks
 * those that are.
 *
 * @param data what people wrote and chose, wherever it stands
 */
export async function wordsOutsideCatalogue(page: Page, data: readonly string[]): Promise<string[]> {
  const { start, end } = pseudoMarks;
  const marked = new RegExp(`${start}[^${start}${end}]*${end}`, 'gu');
  const known = [...universal, ...data].toSorted((one, other) => other.length - one.length);
  return (await page.evaluate(said)).flatMap((text) => {
    let rest = text;
    // From the innermost: a text may stand in another as a value.
    for (let before = ''; before !== rest; ) {
      before = rest;
      rest = rest.replace(marked, ' ');
    }
    for (const one of known) rest = rest.replaceAll(one, ' ');
    return (
      rest
        .replace(moment, ' ')
        .replace(measure, ' ')
        .match(/\p{L}{2,}/gu) ?? []
    );
  });
}

/** Every text and every spoken name of a page by itself. */
export async function textsOn(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.parentElement?.closest('script, style, noscript, bdi') === null)
        found.push(node.textContent ?? '');
    }
    for (const name of ['aria-label', 'aria-description', 'alt', 'placeholder', 'title']) {
      for (const element of document.querySelectorAll(`[${name}]`))
        found.push(element.getAttribute(name) ?? '');
    }
    return found;
  });
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}
