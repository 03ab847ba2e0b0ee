/** In the order they are offered. */
export const locales = ['en', 'fi'] as const;
export type Locale = (typeof locales)[number];

/**
 * A locale for tests: marks every text and runs from right to left, so that a text outside the catalogue, or a layout
 * that assumes a direction, is seen.
 */
export const pseudoLocale = 'en-XB';
/** Marks around every text of the pseudo locale: a text on screen without them did not come from the catalogue. */
export const pseudoMarks = { start: '⟦', end: '⟧' } as const;
export type AnyLocale = Locale | typeof pseudoLocale;

export const localeStorageKey = 'locale';

/** Each language in its own words. */
export const localeNames: Record<Locale, string> = { en: 'English', fi: 'Suomi' };

/** Returns the language chosen in this browser, else the first of the browser's that there is, else English. */
export function preferredLocale(stored: string | null, languages: readonly string[]): AnyLocale {
  if (stored === pseudoLocale) return pseudoLocale;
  const wanted = stored === null ? languages : [stored, ...languages];
  for (const language of wanted) {
    const base = language.toLowerCase().split('-')[0];
    const found = locales.find((locale) => locale === base);
    if (found !== undefined) return found;
  }
  return 'en';
}

export function directionOf(locale: AnyLocale): 'ltr' | 'rtl' {
  return locale === pseudoLocale ? 'rtl' : 'ltr';
}
