/** The order of the buttons. */
export const emojiCategories = [
  'all',
  'smileys',
  'people',
  'animals',
  'food',
  'activities',
  'travel',
  'symbols',
  'objects',
] as const;
export type EmojiCategory = (typeof emojiCategories)[number];

/**
 * One emoji as the build lays it down: the character, its name, further words to find it by, its category, the version
 * of Unicode's emojis that brought it, and the characters of the five skin tones where it has them.
 */
export type EmojiRow = readonly [
  emoji: string,
  name: string,
  words: string,
  category: Exclude<EmojiCategory, 'all'>,
  version: number,
  tones?: readonly string[],
];

export type EmojiLocale = 'en' | 'fi';

const loaders = {
  en: () => import('emojibase-data/en/data.json'),
  fi: () => import('emojibase-data/fi/data.json'),
} satisfies Record<EmojiLocale, () => Promise<unknown>>;

/** All emojis in the order of Unicode, with their names in a language: a file of the build that the browser caches. */
export async function loadEmojiRows(locale: EmojiLocale): Promise<readonly EmojiRow[]> {
  const { default: rows } = await loaders[locale]();
  // The types are the published file's; the build (build/emojis.ts) has put these rows in its place.
  return rows as unknown as readonly EmojiRow[];
}
