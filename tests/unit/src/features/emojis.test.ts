import { describe, expect, it } from 'vitest';
import { emojiCategories } from '#src/features/emoji/data.ts';
import { findEmojis, loadEmojis, toned } from '#src/features/emoji/emojis.ts';

const english = await loadEmojis('en');
const finnish = await loadEmojis('fi');

function characters(query: string, category: (typeof emojiCategories)[number] = 'all', set = english) {
  return findEmojis(set.emojis, { query, category }).map(({ emoji }) => emoji);
}

describe('the emojis', () => {
  it('are those of Unicode, each in one of the categories that have buttons', () => {
    expect(english.emojis.length).toBeGreaterThan(1900);
    expect(finnish.emojis.map(({ emoji }) => emoji)).toEqual(english.emojis.map(({ emoji }) => emoji));
    const counts = emojiCategories.map((category) => characters('', category).length);
    expect(counts.every((count) => count > 80)).toBe(true);
    expect(counts.slice(1).reduce((sum, count) => sum + count)).toBe(counts[0]);
  });

  it.each([
    ['smileys', '😀'],
    ['people', '👋'],
    ['animals', '🐧'],
    ['food', '🍓'],
    ['activities', '🏒'],
    ['travel', '🚲️'],
    ['smileys', '❤️‍🔥'],
    ['symbols', '♻️'],
    ['symbols', '🇫🇮'],
    ['objects', '🔑'],
  ] as const)('put into %s: %s', (category, emoji) => {
    expect(characters('', category)).toContain(emoji);
  });

  it('offer 20 common ones', () => {
    expect(new Set(english.common).size).toBe(20);
    expect(english.common).toContain(english.byCharacter.get('😂'));
  });

  it('hold no modifiers and no single letters of flags', () => {
    expect(english.byCharacter.has('🏻')).toBe(false);
    expect(english.byCharacter.has('🇫')).toBe(false);
  });
});

describe('searching for an emoji', () => {
  it('finds by a part of the name, upper and lower case alike', () => {
    expect(characters('PENGUIN')).toEqual(['🐧']);
    expect(characters(' engui ')).toEqual(['🐧']);
  });

  it('finds in the given category only, and nothing for an unknown word', () => {
    expect(characters('penguin', 'food')).toEqual([]);
    expect(characters('qwertyuiop')).toEqual([]);
  });

  it('ranks names that begin with the query before names and words that contain it', () => {
    const found = findEmojis(english.emojis, { query: 'cat', category: 'all' }).map(({ name }) => name);
    const firstOther = found.findIndex((name) => !name.startsWith('cat'));
    expect(found.slice(0, firstOther)).toContain('cat face');
    expect(found.slice(firstOther).some((name) => name.startsWith('cat'))).toBe(false);
    expect(found.length).toBeGreaterThan(firstOther);
  });

  it('knows Finnish and English names in Finnish', () => {
    expect(finnish.byCharacter.get('🐧')?.name).toBe('pingviini');
    expect(characters('pingviini', 'all', finnish)).toEqual(['🐧']);
    expect(characters('penguin', 'all', finnish)).toEqual(['🐧']);
  });
});

describe('skin tones of emojis', () => {
  it('colour what has a skin, and nothing else', () => {
    const at = (character: string) => english.byCharacter.get(character)!;
    expect(toned(at('👍️'), 5)).toBe('👍🏿');
    expect(toned(at('👍️'), 0)).toBe('👍️');
    expect(toned(at('🐧'), 5)).toBe('🐧');
  });

  it('map back to the emoji without a tone', () => {
    expect(english.byCharacter.get('👍🏽')?.name).toBe('thumbs up');
  });
});
