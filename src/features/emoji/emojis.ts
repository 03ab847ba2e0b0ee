import { type EmojiCategory, type EmojiLocale, type EmojiRow, loadEmojiRows } from './data.ts';
import { newestShownVersion } from './support.ts';

/** 0 is the emojis' own yellow; from 1 for light to 5 for dark. */
export const skinTones = [0, 1, 2, 3, 4, 5] as const;
export type SkinTone = (typeof skinTones)[number];

export interface Emoji {
  readonly emoji: string;
  readonly name: string;
  /** The name and further words, in lower case, one on each line. */
  readonly words: string;
  readonly category: Exclude<EmojiCategory, 'all'>;
  /** By {@link SkinTone}, without the first; absent for emojis without skin. */
  readonly tones?: readonly string[];
}

export interface EmojiSet {
  /** In the order of Unicode. */
  readonly emojis: readonly Emoji[];
  /** The 20 emojis shown before a search (spec section 2). */
  readonly common: readonly Emoji[];
  /** By each character that an emoji can be written with. */
  readonly byCharacter: ReadonlyMap<string, Emoji>;
}

/** The emojis most used in chats of many languages. */
const commonCharacters = '😂 ❤️ 🤣 👍️ 😭 🙏 😘 🥰 😍 😊 🎉 😁 💕 🥺 😅 🔥 ☺️ 🤔 🙈 👏'.split(' ');

const sets = new Map<EmojiLocale, Promise<EmojiSet>>();

/** Loads the emojis with their names in a language, once; after a failure anew. */
export function loadEmojis(locale: EmojiLocale): Promise<EmojiSet> {
  const known = sets.get(locale);
  if (known !== undefined) return known;
  const loading = loadEmojiRows(locale).then(emojiSet);
  sets.set(locale, loading);
  loading.catch(() => sets.delete(locale));
  return loading;
}

function emojiSet(rows: readonly EmojiRow[]): EmojiSet {
  const newest = newestShownVersion(rows);
  const emojis = rows
    .filter(([, , , , version]) => version <= newest)
    .map(([emoji, name, words, category, , tones]): Emoji => {
      const all = `${name.toLowerCase()}\n${words}`;
      return { emoji, name, words: all, category, ...(tones && { tones }) };
    });
  const byCharacter = new Map(
    emojis.flatMap((entry) => [entry.emoji, ...(entry.tones ?? [])].map((character) => [character, entry])),
  );
  const common = commonCharacters.flatMap((character) => byCharacter.get(character) ?? []);
  return { emojis, common, byCharacter };
}

/** The character in a skin tone, or as it is for an emoji that has no such tone. */
export function toned({ emoji, tones }: Emoji, tone: SkinTone): string {
  return (tone === 0 ? undefined : tones?.[tone - 1]) ?? emoji;
}

/**
 * Finds emojis of a category whose name or keywords contain the query; names that begin with it come first. Ignores
 * case.
 */
export function findEmojis(
  emojis: readonly Emoji[],
  { query, category }: { query: string; category: EmojiCategory },
): readonly Emoji[] {
  const wanted = query.trim().toLowerCase();
  const found = emojis.filter(
    (entry) => (category === 'all' || entry.category === category) && entry.words.includes(wanted),
  );
  if (wanted === '') return found;
  return [
    ...found.filter(({ words }) => words.startsWith(wanted)),
    ...found.filter(({ words }) => !words.startsWith(wanted)),
  ];
}
