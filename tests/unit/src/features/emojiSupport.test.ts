import { afterEach, expect, it, vi } from 'vitest';
import type { EmojiRow } from '#src/features/emoji/data.ts';
import { newestShownVersion } from '#src/features/emoji/support.ts';

const rows: EmojiRow[] = [
  ['😀', 'grinning face', '', 'smileys', 1],
  ['🫠', 'melting face', '', 'smileys', 14],
  // Falls apart into two that are older.
  ['🐦‍🔥', 'phoenix', '', 'animals', 15.1],
  ['🫩', 'face with bags under eyes', '', 'smileys', 16],
];

/** A system that draws these in colour, and everything else as a black box. */
function systemWith(known: readonly string[]) {
  let drawn = '';
  const context = {
    clearRect: () => undefined,
    fillText: (text: string) => {
      drawn = text;
    },
    getImageData: () => ({ data: known.includes(drawn) ? [255, 200, 0, 255] : [0, 0, 0, 255] }),
  };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
}

afterEach(() => vi.restoreAllMocks());

it.each([
  [['😀', '🫠', '🫩'], 16],
  [['😀', '🫠'], 14],
  [['😀'], 1],
  // Nothing in colour: then newer ones look no worse than the others.
  [[], Number.POSITIVE_INFINITY],
])('a system with %j shows emojis up to version %s', (known, newest) => {
  systemWith(known);
  expect(newestShownVersion(rows)).toBe(newest);
});

it('a browser whose drawing can not be read is offered every emoji', () => {
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
  expect(newestShownVersion(rows)).toBe(Number.POSITIVE_INFINITY);
});
