import type { Emoji } from 'emojibase';
import type { Plugin } from 'vite';
import type { EmojiLocale, EmojiRow } from '../src/features/emoji/data.ts';

const published = /\/emojibase-data\/(?<locale>en|fi)\/data\.json$/;

const sources = {
  en: () => import('emojibase-data/en/data.json', { with: { type: 'json' } }),
  fi: () => import('emojibase-data/fi/data.json', { with: { type: 'json' } }),
} satisfies Record<EmojiLocale, () => Promise<{ default: Emoji[] }>>;

/**
 * Unicode's groups, as the categories of the picker (spec section 2), which has none for flags: they are symbols. What is
 * missing here (modifiers, single letters of flags) is part of other emojis.
 */
const categoryOfGroup: Readonly<Record<number, EmojiRow[3]>> = {
  0: 'smileys',
  1: 'people',
  3: 'animals',
  4: 'food',
  5: 'travel',
  6: 'activities',
  7: 'objects',
  8: 'symbols',
  9: 'symbols',
};

/** Keeps of the published emojis what the picker shows. */
export function compileEmojis(): Plugin {
  return {
    name: 'compile-emojis',
    enforce: 'pre',
    load: {
      filter: { id: published },
      async handler(id) {
        const locale = published.exec(id)?.groups?.locale as EmojiLocale;
        const [named, english] = await Promise.all([sources[locale](), sources.en()]);
        return JSON.stringify(emojiRows(named.default, english.default));
      },
    },
  };
}

/** A person who searches in another language may still know the English name. */
function emojiRows(named: readonly Emoji[], english: readonly Emoji[]): EmojiRow[] {
  const englishOf = new Map(english.map((entry) => [entry.hexcode, entry]));
  return named
    .toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0))
    .flatMap((entry): EmojiRow[] => {
      const category = categoryOfGroup[entry.group ?? -1];
      if (category === undefined) return [];
      const words = wordsOf(entry, englishOf.get(entry.hexcode));
      const row = [entry.emoji, entry.label, words, category, entry.version] as const;
      const tones = tonesOf(entry);
      return [tones.length === 5 ? [...row, tones] : row];
    });
}

function wordsOf(entry: Emoji, english: Emoji | undefined): string {
  const words = [...(entry.tags ?? []), english?.label ?? '', ...(english?.tags ?? [])];
  const name = entry.label.toLowerCase();
  const more = words.map((word) => word.toLowerCase()).filter((word) => word !== '' && !name.includes(word));
  return [...new Set(more)].join('\n');
}

/** From light to dark; those of several people in different tones are left out. */
function tonesOf(entry: Emoji): string[] {
  const single = (entry.skins ?? []).filter(({ tone }) => typeof tone === 'number');
  return single.toSorted((one, other) => Number(one.tone) - Number(other.tone)).map(({ emoji }) => emoji);
}
