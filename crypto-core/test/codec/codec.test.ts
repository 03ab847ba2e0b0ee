import { describe, expect, it } from 'vitest';
import { concat, equalBytes, fromUtf8, toHex, utf8, wipe } from '../../src/bytes.ts';
import { decode, Reader } from '../../src/codec/reader.ts';
import { encode, Writer, withEncoded } from '../../src/codec/writer.ts';
import { CryptoError } from '../../src/errors.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { fromHex } from '../kat/vectors.ts';

describe('Reader', () => {
  it('reads integers in network order', () => {
    const reader = new Reader(fromHex('01 0203 04050607 08090a0b0c0d0e0f'.replaceAll(' ', '')));
    expect([reader.u8(), reader.u16(), reader.u32(), reader.u64()]).toEqual([
      1,
      0x0203,
      0x04050607,
      0x08090a0b0c0d0e0fn,
    ]);
    expect(reader.remaining).toBe(0);
  });

  it.each([
    ['u8', ''],
    ['u16', '01'],
    ['u32', '010203'],
    ['u64', '01020304050607'],
  ] as const)('refuses a truncated %s', (method, hex) => {
    expect(codeOf(() => new Reader(fromHex(hex))[method]())).toBe('malformed');
  });

  it.each([
    ['4000', 'two bytes for 0'],
    ['403f', 'two bytes for 63'],
    ['80000000', 'four bytes for 0'],
    ['80003fff', 'four bytes for 16383'],
    ['c000000000000000', 'the reserved prefix'],
    ['40', 'a header cut short'],
    ['8000', 'a long header cut short'],
    ['', 'no header'],
  ])('refuses the length header %s: %s', (hex) => {
    expect(codeOf(() => new Reader(fromHex(hex)).varint())).toBe('malformed');
  });

  it('refuses an opaque longer than the message without allocating it', () => {
    expect(codeOf(() => decode(fromHex('bfffffff00'), (r) => r.opaque()))).toBe('malformed');
  });

  it('refuses trailing bytes', () => {
    expect(codeOf(() => decode(fromHex('0102'), (r) => r.u8()))).toBe('malformed');
  });

  it.each(['02', 'ff'])('refuses the presence octet %s', (hex) => {
    expect(codeOf(() => decode(fromHex(`${hex}05`), (r) => r.optional(() => r.u8())))).toBe('malformed');
    expect(codeOf(() => decode(fromHex(hex), (r) => r.optional(() => r.u8())))).toBe('malformed');
  });

  it('reads an optional value that is there, and one that is not', () => {
    expect(decode(fromHex('0105'), (r) => r.optional(() => r.u8()))).toBe(5);
    expect(decode(fromHex('00'), (r) => r.optional(() => r.u8()))).toBeNull();
  });

  it('keeps a vector inside its own bytes', () => {
    expect(decode(fromHex('0400010002'), (r) => r.vector('extensions', (item) => item.u16()))).toEqual([
      1, 2,
    ]);
    expect(
      codeOf(() => decode(fromHex('030001000299'), (r) => r.vector('extensions', (item) => item.u16()))),
    ).toBe('malformed');
  });

  it('refuses a vector whose items take no bytes', () => {
    expect(codeOf(() => decode(fromHex('0100'), (r) => r.vector('extensions', () => null)))).toBe(
      'malformed',
    );
  });

  it('refuses numbers of 16 bits in an odd number of bytes, and more of them than the limit', () => {
    const read = (hex: string) => () => decode(fromHex(hex), (r) => r.u16s('externalSenders'));
    expect(read('0400010002')()).toEqual([1, 2]);
    expect(codeOf(read('03000100'))).toBe('malformed');
    expect(codeOf(read(`20${'0001'.repeat(16)}`))).toBe('none');
    expect(codeOf(read(`22${'0001'.repeat(17)}`))).toBe('unsupported');
  });

  it('reads what is left as padding only where all of it is zero', () => {
    const read = (hex: string) => () => decode(fromHex(hex), (r) => [r.u8(), r.zeros('padding')]);
    expect(['05', '0500', '050000'].map((hex) => codeOf(read(hex)))).toEqual(['none', 'none', 'none']);
    expect(['0501', '050001', '05ff00'].map((hex) => refusalOf(read(hex)))).toEqual(
      Array.from({ length: 3 }, () => 'malformed: padding'),
    );
  });

  it('reads a view that does not start at the start of its buffer', () => {
    const bytes = fromHex('ffff0102').subarray(2);
    expect(decode(bytes, (r) => r.u16())).toBe(0x0102);
  });

  it('gives back the exact bytes of a value it parsed', () => {
    const reader = new Reader(fromHex('aa0201020b'));
    reader.u8();
    const start = reader.offset;
    reader.opaque();
    expect(toHex(reader.since(start))).toBe('020102');
  });
});

describe('Writer', () => {
  it.each([0, 1, 63, 64, 16383, 16384, 70000])(
    'frames %i bytes the same whether or not the length is known before',
    (length) => {
      const body = new Uint8Array(length).map((_, i) => i);
      const known = encode(body, (w, value) => w.opaque(value));
      const unknown = encode(body, (w, value) => w.lengthPrefixed(() => w.bytes(value)), 1);
      expect(equalBytes(unknown, known)).toBe(true);
      expect(
        equalBytes(
          decode(known, (r) => r.opaque()),
          body,
        ),
      ).toBe(true);
    },
  );

  it('starts over after clear, with nothing of what was there', () => {
    const writer = new Writer(4);
    writer.bytes(fromHex('01020304'));
    writer.clear();
    writer.u8(5);
    writer.zeros(2);
    expect(toHex(writer.view())).toBe('050000');
    expect(toHex(writer.finish())).toBe('050000');
  });

  it('pads over what the buffer had there before, by so many bytes or to the next multiple of a size', () => {
    const writer = new Writer(4);
    writer.bytes(fromHex('01020304'));
    writer.clear();
    writer.bytes(fromHex('050607'));
    writer.zeros(1);
    expect(toHex(writer.view())).toBe('05060700');
    const padded = (length: number) =>
      encode(length, (w, n) => {
        w.bytes(new Uint8Array(n).fill(1));
        w.zerosTo(4);
      });
    expect([0, 1, 3, 4, 5].map((length) => toHex(padded(length)))).toEqual([
      '',
      '01000000',
      '01010100',
      '01010101',
      '0101010101000000',
    ]);
  });

  it('nests vectors beyond each header size', () => {
    const rows = Array.from({ length: 40 }, (_, i) => Array.from({ length: 50 }, (_, j) => i * j));
    const bytes = encode(
      rows,
      (w, value) => w.vector(value, (_, row) => w.vector(row, (_w, x) => w.u16(x))),
      1,
    );
    expect(
      decode(bytes, (r) => r.vector('leaves', (row) => row.vector('capabilities', (item) => item.u16()))),
    ).toEqual(rows);
  });

  it('refuses integers that do not fit', () => {
    const writer = new Writer();
    for (const call of [
      () => writer.u8(256),
      () => writer.u8(-1),
      () => writer.u16(0x10000),
      () => writer.u32(2 ** 32),
      () => writer.u32(0.5),
      () => writer.u64(-1n),
      () => writer.u64(2n ** 64n),
      () => writer.varint(2 ** 30),
    ]) {
      expect(codeOf(call)).toBe('usage');
    }
  });

  it('hands out an array that later writes do not reach', () => {
    const writer = new Writer(8);
    writer.u8(1);
    const first = writer.finish();
    writer.u8(2);
    expect(toHex(first)).toBe('01');
    expect(toHex(writer.finish())).toBe('0102');
  });

  it('writes integers of 64 bits around the largest that a number holds exactly', () => {
    for (const value of [
      0n,
      2n ** 32n - 1n,
      2n ** 32n,
      2n ** 53n - 1n,
      2n ** 53n,
      2n ** 53n + 1n,
      2n ** 64n - 1n,
    ]) {
      const bytes = encode(value, (w, n) => w.u64(n));
      expect(toHex(bytes)).toBe(value.toString(16).padStart(16, '0'));
    }
  });

  it('keeps the buffer of a value for the next one, but none of more than 64 KiB', () => {
    const roomOf = (expected: number): number => {
      let room = 0;
      encode(0, (w) => void (room = w.capacity), expected);
      return room;
    };
    const write = (length: number) => encode(new Uint8Array(length), (w, bytes) => w.bytes(bytes));
    write(0x1_0000);
    expect(roomOf(0)).toBe(0x1_0000);
    expect(roomOf(0x1_0001)).toBe(0x1_0001);
    write(0x1_0001);
    expect(roomOf(0)).toBeLessThan(0x1_0000);
  });

  it('gives encoded bytes for the time of a call, also while others are encoded, and overwrites them', () => {
    const write = (w: Writer, octet: number): void => w.bytes(new Uint8Array(100).fill(octet));
    const kept = withEncoded(7, write, (outer) => {
      withEncoded(9, write, (inner) => expect(inner).toEqual(new Uint8Array(100).fill(9)));
      expect(outer).toEqual(new Uint8Array(100).fill(7));
      return outer;
    });
    expect(kept).toEqual(new Uint8Array(100));
    let seen = new Uint8Array(1);
    const fail = (bytes: Uint8Array): void => {
      seen = bytes as Uint8Array<ArrayBuffer>;
      throw new CryptoError('usage');
    };
    expect(codeOf(() => withEncoded(7, write, fail))).toBe('usage');
    expect(seen).toEqual(new Uint8Array(100));
    expect(
      withEncoded(
        3,
        (w, octet) => w.u8(octet),
        (bytes) => bytes.length,
      ),
    ).toBe(1);
  });
});

describe('bytes', () => {
  it('are equal only with the same length and the same octets', () => {
    expect(equalBytes(utf8('a'), utf8('ab'))).toBe(false);
    expect(equalBytes(utf8('ab'), utf8('ab'))).toBe(true);
    expect(equalBytes(utf8('ab'), utf8('aa'))).toBe(false);
  });

  it('are joined in order and wiped to zero', () => {
    const joined = concat(utf8('a'), utf8(''), utf8('bc'));
    expect(fromUtf8(joined)).toBe('abc');
    wipe(joined);
    expect(toHex(joined)).toBe('000000');
  });

  it('refuses what is not UTF-8 and keeps a byte order mark', () => {
    expect(codeOf(() => fromUtf8(fromHex('c328')))).toBe('malformed');
    expect(fromUtf8(fromHex('efbbbf61'))).toBe('\ufeffa');
  });
});
