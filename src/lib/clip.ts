/** Code units that the longest emoji has, about. */
const longestEmoji = 24;

/** The first `length` code units at most, without half a character or half an emoji at the end. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  for (let end = length; end > length - longestEmoji; end -= 1) {
    if (!splitsPair(text, end) && !splitsCluster(text, end)) return text.slice(0, end);
  }
  // A heap of marks, which may be cut anywhere.
  return text.slice(0, splitsPair(text, length) ? length - 1 : length);
}

function splitsPair(text: string, at: number): boolean {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at));
}

function splitsCluster(text: string, at: number): boolean {
  const next = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return /^[\p{M}\p{EMod}\u200D]$/u.test(next) || text.charAt(at - 1) === '\u200D';
}
