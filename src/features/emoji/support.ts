import type { EmojiRow } from './data.ts';

/** Pixels of the square that an emoji is tried in. */
const size = 16;

/**
 * The newest version of Unicode's emojis that this system has pictures for: newer ones would be shown as boxes. Everything
 * where that can't be seen.
 */
export function newestShownVersion(rows: readonly EmojiRow[]): number {
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return Number.POSITIVE_INFINITY;
  context.textBaseline = 'top';
  context.font = `${size - 2}px sans-serif`;

  // Of one character: sequences fall apart into older ones instead of being boxes.
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

/** Whether it is drawn in colours of its own, which a box or a letter isn't. */
function isColourful(context: CanvasRenderingContext2D, emoji: string): boolean {
  context.clearRect(0, 0, size, size);
  context.fillStyle = '#000';
  context.fillText(emoji, 0, 0);
  const { data } = context.getImageData(0, 0, size, size);
  return data.some((value, index) => index % 4 !== 3 && value > 0);
}
