import { describe, expect, it } from 'vitest';
import {
  findPinnedMessages,
  MAX_PINNED_MESSAGES,
  PINNED_MESSAGES_EXTENSION,
  pinnedMessagesExtension,
} from '../../src/content/index.ts';
import { codeOf } from '../codeOf.ts';

const id = (last: number) => Uint8Array.from({ length: 32 }, (_octet, at) => (at === 0 ? 1 : last));
const read = (...bytes: readonly number[]) =>
  findPinnedMessages([{ type: PINNED_MESSAGES_EXTENSION, data: Uint8Array.from(bytes) }]);

describe('the pinned messages of a conversation', () => {
  it('are a version and their ids, in an extension of the range for private use', () => {
    const { data, type } = pinnedMessagesExtension([id(7)]);
    expect([type, ...data]).toEqual([0xf0a5, 1, 32, ...id(7)]);
    for (const ids of [[id(1)], [id(2), id(1)], [id(3), id(1), id(2)]])
      expect(findPinnedMessages([pinnedMessagesExtension(ids)])).toEqual(ids);
    expect(findPinnedMessages([])).toEqual([]);
    expect(MAX_PINNED_MESSAGES).toBe(3);
  });

  it.each<[string, readonly Uint8Array[]]>([
    ['none', []],
    ['more than there may be', [id(1), id(2), id(3), id(4)]],
    ['thousands', Array.from({ length: 4000 }, (_id, at) => id(at % 256))],
    ['one twice', [id(1), id(2), id(1)]],
    ['one that is too short', [id(1).subarray(1)]],
    ['two that have the length of two together', [id(1).subarray(0, 31), Uint8Array.of(1, ...id(1))]],
    ['one of another hash', [id(1).fill(2)]],
  ])('are never made of %s', (_what, ids) => {
    expect(codeOf(() => pinnedMessagesExtension(ids))).toBe('malformed');
  });

  it.each<[string, readonly number[], string]>([
    ['without any', [1, 0], 'malformed'],
    [
      'with more than there may be',
      [1, 0x40, 128, ...[1, 2, 3, 4].flatMap((at) => [...id(at)])],
      'malformed',
    ],
    ['with one twice', [1, 0x40, 64, ...id(1), ...id(1)], 'malformed'],
    ['with one that is cut off', [1, 31, ...id(1).subarray(0, 31)], 'malformed'],
    ['with one and a half', [1, 48, ...id(1), ...id(2).subarray(0, 16)], 'malformed'],
    ['with one of another hash', [1, 32, ...id(1).fill(2)], 'malformed'],
    ['longer than it says', [1, 32, ...id(1), 0], 'malformed'],
    ['empty', [], 'malformed'],
    ['of a later version', [2, 32, ...id(1)], 'unsupported'],
  ])('are refused %s', (_what, bytes, code) => {
    expect(codeOf(() => read(...bytes))).toBe(code);
  });
});
