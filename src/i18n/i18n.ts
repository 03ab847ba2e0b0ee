import { setupI18n } from '@lingui/core';
import { type CataloguePart, loadCatalogue, type MessageId } from './catalogue.ts';
import { type AnyLocale, directionOf, type Locale, pseudoLocale } from './locales.ts';

export type MessageValues = Readonly<Record<string, string | number>>;

export const i18n = setupI18n({
  // A missing text shows its key; a test holds that none is missing.
  missing: (_locale, id) => id,
});

let active: AnyLocale = 'en';
let activation: Promise<void> = Promise.resolve();

const everything: readonly CataloguePart[] = ['visitors', 'members', 'tabs', 'legal'];

/**
 * Loads a language, as far as it is wanted, and makes it the one of {@link t}, of dates and of the page. Components
 * that show texts must render anew.
 */
export function activateLocale(locale: AnyLocale, parts = everything): Promise<void> {
  activation = activate(locale, parts);
  return activation;
}

async function activate(locale: AnyLocale, parts: readonly CataloguePart[]): Promise<void> {
  const catalogues = await Promise.all(parts.map((part) => loadCatalogue(locale, part)));
  active = locale;
  i18n.loadAndActivate({ locale: formatLocale(), messages: Object.assign({}, ...catalogues) });
}

/** Loads more texts of the active language, or of the one that is being activated. */
export async function addTexts(part: CataloguePart): Promise<void> {
  // A failed load leaves the former language.
  await activation.catch(() => undefined);
  const catalogue = await loadCatalogue(active, part);
  i18n.load(formatLocale(), catalogue);
}

/** Resolves with a chunk once the texts that only it has are there, too. */
export async function withTexts<Part>(part: CataloguePart, chunk: Promise<Part>): Promise<Part> {
  const [there] = await Promise.all([chunk, addTexts(part)]);
  return there;
}

export function activeLocale(): AnyLocale {
  return active;
}

/** The active language without the tests' marks, for texts outside of the catalogue. */
export function activeLanguage(): Locale {
  return active === pseudoLocale ? 'en' : active;
}

/** For `Intl`: the active language, in the region that the browser names with it. */
export function formatLocale(): string {
  const language = activeLanguage();
  const regional = globalThis.navigator?.languages?.find((tag) => tag.split('-')[0] === language);
  return regional ?? language;
}

export function applyToDocument(document: Document): void {
  document.documentElement.lang = activeLanguage();
  document.documentElement.dir = directionOf(active);
}

/**
 * The text of this id in the active language, with its values. Call it while rendering or acting, never when a module
 * loads: the language isn't known then, and it can change.
 */
export function t(id: MessageId, values?: MessageValues): string {
  return i18n._(id, values && guarded(values));
}

/**
 * Lingui decodes escape sequences such as \u202e after it has put the values in. Those come from people: a name that
 * reads like a sequence must stay those characters.
 */
function guarded(values: MessageValues): MessageValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replaceAll('\\', '\\u005c') : value,
    ]),
  );
}
