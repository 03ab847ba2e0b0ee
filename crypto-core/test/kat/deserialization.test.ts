import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import { fromHex, mlsVectors } from './vectors.ts';

const vectors = mlsVectors<{ vlbytes_header: string; length: number }>('deserialization');

describe('deserialization', () => {
  it.each(vectors)('reads and writes the header of $length bytes', ({ vlbytes_header, length }) => {
    expect(decode(fromHex(vlbytes_header), (r) => r.varint())).toBe(length);
    expect(toHex(encode(length, (w, value) => w.varint(value)))).toBe(vlbytes_header);
  });
});
