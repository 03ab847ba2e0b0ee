import { describe, expect, it } from 'vitest';
import { isTakenOver } from '#src/lib/releaseAgreement.ts';

const now = Date.UTC(2026, 10, 28);
const held = (value: string | null) => ({ getItem: () => value });

describe('a version that takes over', () => {
  it('does so by the person’s leave for two minutes', () => {
    expect(isTakenOver(held(String(now)), now)).toBe(false);
    expect(isTakenOver(held(String(now - 120_000)), now)).toBe(false);
    expect(isTakenOver(held(String(now - 120_001)), now)).toBe(true);
    expect(isTakenOver(held('0'), now)).toBe(true);
  });

  it('does not by a clock that was ahead when they agreed, nor by what is no time', () => {
    expect(isTakenOver(held(String(now + 365 * 86_400_000)), now)).toBe(true);
    expect(isTakenOver(held('soon'), now)).toBe(true);
  });

  it('is nobody’s question where no release is held on to', () => {
    expect(isTakenOver(held(null), now)).toBe(false);
  });
});
