import { describe, expect, it } from 'vitest';
import { gridDestination } from '#src/features/emoji/gridNavigation.ts';

const rows = [8, 8, 3];

describe('a key in the grid', () => {
  it.each([
    ['ArrowRight', [0, 0], [0, 1]],
    ['ArrowRight', [0, 7], [1, 0]],
    ['ArrowRight', [2, 2], [2, 2]],
    ['ArrowLeft', [1, 0], [0, 7]],
    ['ArrowLeft', [0, 0], [0, 0]],
    ['ArrowDown', [0, 5], [1, 5]],
    ['ArrowDown', [1, 5], [2, 2]],
    ['ArrowDown', [2, 1], [2, 1]],
    ['ArrowUp', [2, 1], [1, 1]],
    ['Home', [1, 5], [1, 0]],
    ['End', [2, 0], [2, 2]],
    ['Ctrl+Home', [1, 5], [0, 0]],
    ['Ctrl+End', [0, 5], [2, 2]],
    ['PageDown', [0, 5], [2, 2]],
    ['PageUp', [2, 1], [0, 1]],
  ] as const)('%s leads from %j to %j', (name, [row, column], [toRow, toColumn]) => {
    const key = { key: name.replace('Ctrl+', ''), ctrlKey: name.startsWith('Ctrl+') };
    expect(gridDestination(key, { row, column }, rows, 'ltr')).toEqual({ row: toRow, column: toColumn });
  });

  it('goes the other way in a right-to-left language', () => {
    const left = { key: 'ArrowLeft', ctrlKey: false };
    expect(gridDestination(left, { row: 0, column: 0 }, rows, 'rtl')).toEqual({ row: 0, column: 1 });
  });

  it('leaves the grid upwards from its first row, and leaves other keys alone', () => {
    const at = { row: 0, column: 3 };
    expect(gridDestination({ key: 'ArrowUp', ctrlKey: false }, at, rows, 'ltr')).toBe('above');
    expect(gridDestination({ key: 'a', ctrlKey: false }, at, rows, 'ltr')).toBeNull();
  });
});
