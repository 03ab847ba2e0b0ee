import type { EmojiRow } from './data.ts';

/** Pixels of the square that an emoji is tried in. */
const size = 16;

/**
 * Returns the newest version of Unicode's emojis that this system has pictures for: newer ones would be shown as boxes.
 * Infinity if that can't be found out.
 */
export function newestShownVersion(rows: readonly EmojiRow[]): number {
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return Number.POSITIVE_INFINITY;
  context.textBaseline = 'top';
  context.font = `${size - 2}px sans-serif`;

  // Probe single characters: sequences fall apart into older emojis instead of being boxes.
  const probes = new Map(
    rows
      .filter(([emoji]) => Array.from(emoji).length === 1)
      .map(([emoji, , , , version]) => [version, emoji]),
  );
  for (const [version, emoji] of [...probes].sort(([one], [other]) => other - one)) {
    if (isColourful(context, emoji)) return version;
  }
  return Number.POSITIVE_INFINITY;
}

/** Returns whether an emoji is drawn in its own colours: a box or a letter is black. */
function isColourful(context: CanvasRenderingContext2D, emoji: string): boolean {
  context.clearRect(0, 0, size, size);
  context.fillStyle = '#000';
  context.fillText(emoji, 0, 0);
  const { data } = context.getImageData(0, 0, size, size);
  return data.some((value, index) => index % 4 !== 3 && value > 0);
}
