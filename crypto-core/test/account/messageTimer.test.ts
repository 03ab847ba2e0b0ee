import { describe, expect, it } from 'vitest';
import {
  findMessageTimer,
  MESSAGE_TIMER_EXTENSION,
  messageTimerExtension,
  TIMER_LIMITS,
} from '../../src/account/index.ts';

const extension = (...bytes: number[]) => ({
  type: MESSAGE_TIMER_EXTENSION,
  data: Uint8Array.from(bytes),
});

describe("a conversation's timer", () => {
  it('is a version and seconds, in an extension of the range for private use', () => {
    expect(messageTimerExtension(3600)).toEqual({ type: 0xf0a4, data: Uint8Array.of(1, 0, 0, 0x0e, 0x10) });
    for (const seconds of [TIMER_LIMITS.least, 86_400, TIMER_LIMITS.most])
      expect(findMessageTimer([messageTimerExtension(seconds)])).toBe(seconds);
    expect(findMessageTimer([])).toBe(0);
  });

  it('is made of no time that nobody would accept', () => {
    for (const seconds of [0, 4, TIMER_LIMITS.most + 1])
      expect(() => messageTimerExtension(seconds)).toThrow('malformed');
  });

  it.each([
    ['too short', [1, 0, 0, 0, 4], 'malformed'],
    ['too long', [1, 0xff, 0xff, 0xff, 0xff], 'malformed'],
    ['cut off', [1, 0, 0], 'malformed'],
    ['longer than it says', [1, 0, 0, 0, 60, 0], 'malformed'],
    ['empty', [], 'malformed'],
    ['of a later version', [2, 0, 0, 0, 60], 'unsupported'],
  ])('that is %s is refused', (_what, bytes, code) => {
    expect(() => findMessageTimer([extension(...bytes)])).toThrow(code);
  });
});
