import * as cborg from 'cborg';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concat, toHex } from '../../src/bytes.ts';
import { CborReader, type CborValue, encodeCbor } from '../../src/content/cbor.ts';
import { CryptoError } from '../../src/errors.ts';
import { codeOf } from '../codeOf.ts';
import { fromHex } from '../kat/vectors.ts';

const KEY = 1;
const DEPTH = 5;
const MOST = 2000;

/** Encodes a value as the one of a map. */
function encoded(value: CborValue): Uint8Array {
  return encodeCbor((w) => w.map(new Map([[KEY, value]]), DEPTH, MOST));
}

/** Decodes what follows `a101`, the map whose one key is 1. */
function decoded(value: Uint8Array): CborValue {
  const reader = new CborReader(concat(fromHex('a101'), value));
  const map = reader.map(DEPTH, MOST);
  reader.end();
  return map.get(KEY) ?? null;
}

/** Returns the code of a refusal in its place. A text of the same letters is too long to come by chance. */
function decodedOrCode(value: Uint8Array): CborValue {
  try {
    return decoded(value);
  } catch (error) {
    if (error instanceof CryptoError) return error.code;
    throw error;
  }
}

const scalar: fc.Arbitrary<CborValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger().map((value) => (value === 0 ? 0 : value)),
  fc.integer({ min: -300, max: 70_000 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => new Uint8Array(bytes)),
);
const key = fc.oneof(fc.integer({ min: -300, max: 70_000 }), fc.string({ unit: 'grapheme', maxLength: 9 }));
const value: fc.Arbitrary<CborValue> = fc.letrec<{ value: CborValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'cbor' },
    scalar,
    fc.array(tie('value'), { maxLength: 5, depthIdentifier: 'cbor' }),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 5, depthIdentifier: 'cbor' })
      .map((entries) => new Map(entries)),
  ),
})).value;

describe('CBOR', () => {
  it('reads what it writes, which is what another library writes', () => {
    fc.assert(
      fc.property(value, (one) => {
        const bytes = encoded(one);
        expect(toHex(bytes)).toBe(toHex(cborg.encode(new Map([[KEY, one]]), cborg.rfc8949EncodeOptions)));
        expect(decoded(bytes.subarray(2))).toEqual(one);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads of random bytes only what another library reads in its strictest form, and writes it as it was', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 24 }), (random) => {
        const bytes = new Uint8Array(random);
        const map = concat(fromHex('a101'), bytes);
        const one = decodedOrCode(bytes);
        if (one === 'malformed' || one === 'unsupported') return;
        const other: unknown = cborg.decode(map, {
          strict: true,
          useMaps: true,
          rejectDuplicateMapKeys: true,
        });
        expect(other).toEqual(new Map([[KEY, one]]));
        expect(toHex(encoded(one))).toBe(toHex(map));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    ['an argument in two octets that fits the first', '1817', 'malformed'],
    ['an argument in three octets that fits two', '1900ff', 'malformed'],
    ['an argument in five octets that fits three', '1a0000ffff', 'malformed'],
    ['an argument in nine octets that fits five', '1b00000000ffffffff', 'malformed'],
    ['an integer beyond 2^53-1', '1b0020000000000000', 'unsupported'],
    ['an integer below -(2^53-1)', '3b001fffffffffffff', 'unsupported'],
    ['a reserved length', '1c', 'malformed'],
    ['bytes of indefinite length', '5f4100ff', 'malformed'],
    ['an array of indefinite length', '9fff', 'malformed'],
    ['a tag', 'c000', 'unsupported'],
    ['a half-precision number', 'f97e00', 'unsupported'],
    ['undefined', 'f7', 'unsupported'],
    ['a simple value in two octets', 'f820', 'unsupported'],
    ['a break without a beginning', 'ff', 'unsupported'],
    ['text that is no UTF-8', '61ff', 'malformed'],
    ['text with a surrogate', '63eda080', 'malformed'],
    ['bytes that end early', '4200', 'malformed'],
    ['an array that ends early', '9b001ffffffffffff0', 'malformed'],
    ['keys that are equal', 'a201000100', 'malformed'],
    ['keys in the order of RFC 7049, which is by length first', 'a261610118ff01', 'malformed'],
    ['a key of bytes', 'a1410000', 'unsupported'],
    ['a key of null', 'a1f600', 'unsupported'],
    ['a key that is an array', 'a18000', 'malformed'],
    ['trailing bytes', '0000', 'malformed'],
    ['nothing', '', 'malformed'],
  ])('refuses %s', (_what, hex, code) => {
    expect(codeOf(() => decoded(fromHex(hex)))).toBe(code);
  });

  it('has arrays and maps at as many levels as it is told, and no more', () => {
    expect(decoded(fromHex('81818180'))).toEqual([[[[]]]]);
    expect(codeOf(() => decoded(fromHex('8181818180')))).toBe('malformed');
    expect(codeOf(() => decoded(fromHex('81818181a0')))).toBe('malformed');
    expect(codeOf(() => encoded([[[[[]]]]]))).toBe('usage');
    expect(codeOf(() => encoded([[[[new Map()]]]]))).toBe('usage');
  });

  it('does not write what it would not read', () => {
    for (const one of [0.5, 2 ** 53, -(2 ** 53), Number.NaN, '\ud800', 'a\udc00b']) {
      expect(codeOf(() => encoded(one))).toBe('usage');
    }
    expect(toHex(encoded(-(2 ** 53) + 1))).toBe('a1013b001ffffffffffffe');
    expect(decoded(fromHex('3b001ffffffffffffe'))).toBe(-(2 ** 53) + 1);
    expect(codeOf(() => encodeCbor((w) => w.unsigned(256, 255)))).toBe('usage');
    expect(codeOf(() => encodeCbor((w) => w.unsigned(-1, 255)))).toBe('usage');
  });
});
