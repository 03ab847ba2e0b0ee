import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { blockSize, blocksOf, itemsOf } from '#src/features/files/galleryItems.ts';
import type { AttachedFile } from '#src/store/files.ts';
import { message, veikko } from '../support/app.tsx';

const picture: AttachedFile = {
  kind: 'picture',
  name: 'lake.png',
  type: 'image/png',
  size: 33,
  description: '',
};
const sent = (timestamp: string) =>
  message(veikko.id, { kind: 'files', text: '', files: [picture] }, { timestamp });
/** Items of a month, the newest first. */
const month = (name: string, count: number) =>
  itemsOf(
    Array.from({ length: count }, () => sent(`${name}-15T10:00:00.000Z`)),
    'media',
  );
const shapeOf = (items: Parameters<typeof blocksOf>[0]) =>
  blocksOf(items).map(({ isFirst, items: { length }, month: name }) => [name, isFirst, length]);

describe('the blocks of a gallery', () => {
  it('are of one month, and of twelve pictures at most', () => {
    expect(shapeOf([...month('2026-11', blockSize + 1), ...month('2026-10', 1)])).toEqual([
      ['November 2026', true, blockSize],
      ['November 2026', false, 1],
      ['October 2026', true, 1],
    ]);
  });

  it('keep their keys as pictures come before and after them, of their month and of others', () => {
    const items = [...month('2026-11', 20), ...month('2026-10', 20)];
    const keys = (all: Parameters<typeof blocksOf>[0]) => blocksOf(all).map(({ key }) => key);
    const before = keys(items);
    expect(keys([...month('2026-11', 1), ...items])).toEqual(before);
    expect(keys([...items, ...month('2026-10', 1)])).toEqual(before);
    expect(keys([...month('2026-12', 1), ...items, ...month('2025-11', 1)]).slice(1, -1)).toEqual(before);
  });

  it('have keys of their own where clocks that differ mix the months', () => {
    const mixed = ['2026-11', '2026-10', '2026-11', '2026-10', 'not a time'].flatMap((name) =>
      month(name, 1),
    );
    const blocks = blocksOf(mixed);
    expect(blocks.map(({ isFirst }) => isFirst)).toEqual([true, true, true, true, true]);
    expect(new Set(blocks.map(({ key }) => key)).size).toBe(mixed.length);
    expect(blocks.at(-1)?.month).toBe('');
  });

  it('write a month in words once, however many pictures it has', () => {
    const format = vi.spyOn(Intl.DateTimeFormat.prototype as { readonly format: unknown }, 'format', 'get');
    onTestFinished(() => format.mockRestore());
    blocksOf([...month('2026-11', 500), ...month('2026-10', 500)]);
    expect(format).toHaveBeenCalledTimes(2);
  });
});
