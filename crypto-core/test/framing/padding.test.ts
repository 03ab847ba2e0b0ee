import { describe, expect, it } from 'vitest';
import { paddedLength } from '../../src/framing/padding.ts';

describe('paddedLength', () => {
  it('never shrinks, never adds more than 12 % past the smallest size, and is stable', () => {
    for (let length = 0; length < 20_000; length++) {
      const padded = paddedLength(length);
      expect(padded).toBeGreaterThanOrEqual(length);
      expect(padded / Math.max(length, 256)).toBeLessThan(1.12);
      expect(paddedLength(padded)).toBe(padded);
    }
  });

  it('gives all short messages one size', () => {
    expect(new Set([0, 1, 100, 255, 256].map(paddedLength))).toEqual(new Set([256]));
  });

  it.each([
    [257, 272],
    [511, 512],
    [513, 544],
    [1000, 1024],
    [1025, 1088],
    [65_537, 67_584],
    [1_000_000, 1_015_808],
  ])('pads %i to %i', (length, expected) => {
    expect(paddedLength(length)).toBe(expected);
  });

  it('leaves few sizes to tell apart', () => {
    const sizes = new Set<number>();
    for (let length = 0; length <= 65_536; length++) sizes.add(paddedLength(length));
    expect(sizes.size).toBeLessThan(130);
  });
});
