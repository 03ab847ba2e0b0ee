import { describe, expect, it } from 'vitest';
import { concat, toHex, utf8 } from '../../src/bytes.ts';
import {
  CHAIN_HEADER_LENGTH,
  type ChainHeader,
  encodeChainHeader,
  splitChainHeader,
  withChainHeader,
} from '../../src/content/chainHeader.ts';
import { CryptoError } from '../../src/errors.ts';
import { codeOf } from '../codeOf.ts';
import { generator, mutateBytes } from '../mutations.ts';

const header: ChainHeader = {
  start: 0,
  position: 0x0102_0304_0506,
  hash: new Uint8Array(32).fill(0xab),
  count: 7,
  sentAt: 1_790_000_000_123,
};
const none: ChainHeader = { start: 0, position: 0, hash: new Uint8Array(32), count: 0, sentAt: 1 };
const content = utf8('{"v":1}');

describe('a chain header', () => {
  it('has these bytes, and no more than 60', () => {
    expect(toHex(encodeChainHeader(header))).toBe(
      ['01', '000000000000', '010203040506', 'ab'.repeat(32), '000000000007', '01a0c4506c7b'].join(''),
    );
    expect(CHAIN_HEADER_LENGTH).toBe(57);
  });

  it.each([header, none])('reads as it was written, before any content', (one) => {
    const split = splitChainHeader(withChainHeader(one, content));
    expect(split.header).toEqual(one);
    expect(split.content).toEqual(content);
  });

  it('is missing from content of before there were headers', () => {
    for (const text of ['{"v":1}', ' {}', '\n{}', '']) {
      expect(splitChainHeader(utf8(text))).toEqual({ header: null, content: utf8(text) });
    }
  });

  it('of another version is unsupported', () => {
    for (const version of [0, 2, 0x1f]) {
      const bytes = concat(Uint8Array.of(version), encodeChainHeader(header).subarray(1), content);
      expect(codeOf(() => splitChainHeader(bytes))).toBe('unsupported');
    }
  });

  it('is refused when cut short, or when no sender could have written it', () => {
    const bytes = encodeChainHeader(header);
    for (let length = 1; length < bytes.length; length++) {
      expect(codeOf(() => splitChainHeader(bytes.subarray(0, length)))).toBe('malformed');
    }
    const impossible: Partial<ChainHeader>[] = [
      { position: 3, start: 4 },
      { position: 3, count: 4 },
      { position: 5, start: 3, count: 3 },
      { position: 0, start: 0, count: 0 },
      { hash: new Uint8Array(31) },
      { sentAt: 2 ** 48 },
      { sentAt: -1 },
      { count: 0.5 },
    ];
    for (const change of impossible) {
      expect(codeOf(() => encodeChainHeader({ ...header, ...change }))).toBe('usage');
    }
    const counted = encodeChainHeader({ ...header, position: 3, count: 3 });
    counted[50] = 4;
    expect(codeOf(() => splitChainHeader(counted))).toBe('malformed');
  });

  it('reads whatever comes, or refuses it with a code', () => {
    const below = generator(14);
    const bytes = withChainHeader(header, content);
    const outcomes = Array.from({ length: 2000 }, () => readAgain(mutateBytes(bytes, below)));
    expect(outcomes).not.toContain('other bytes');
    expect(new Set(outcomes)).toEqual(new Set(['same bytes', 'malformed', 'unsupported']));
  });
});

/** Writes again what is read, and answers whether it is the same, or why it wasn't read. */
function readAgain(bytes: Uint8Array): string {
  let split: ReturnType<typeof splitChainHeader>;
  try {
    split = splitChainHeader(bytes);
  } catch (error) {
    return error instanceof CryptoError ? error.code : 'no code';
  }
  const { content: rest, header: read } = split;
  const written = read === null ? rest : withChainHeader(read, rest);
  return toHex(written) === toHex(bytes) ? 'same bytes' : 'other bytes';
}
