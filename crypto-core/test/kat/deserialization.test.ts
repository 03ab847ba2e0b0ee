import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import { fromHex, readVectors, report } from './vectors.ts';

const vectors = readVectors<{ vlbytes_header: string; length: number }[]>('mls/deserialization.json');

describe('deserialization', () => {
  it('has vectors', () => {
    report('deserialization', vectors.length, '');
    expect(vectors.length).toBeGreaterThan(0);
  });

  it.each(vectors)('reads and writes the header of $length bytes', ({ vlbytes_header, length }) => {
    expect(decode(fromHex(vlbytes_header), (r) => r.varint())).toBe(length);
    expect(toHex(encode(length, (w, value) => w.varint(value)))).toBe(vlbytes_header);
  });
});
