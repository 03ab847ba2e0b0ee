const flag = '\\p{RI}{2}';
const pictograph = '(?:\\p{Emoji_Presentation}|\\p{Extended_Pictographic}\\uFE0F)\\p{EMod}?';
const modified = '\\p{Extended_Pictographic}\\p{EMod}';
const keycap = '[0-9#*]\\uFE0F?\\u20E3';
const single = new RegExp(
  `^(?:${flag}|${keycap}|${modified}|${pictograph}|${pictograph}\\u200D\\p{Extended_Pictographic})$`,
  'u',
);

/** Returns whether the text is one emoji of at most 3 code points, which is shown large. */
export function isSingleEmoji(text: string): boolean {
  return Array.from(text).length <= 3 && single.test(text);
}
