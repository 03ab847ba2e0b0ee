import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concat } from '../../src/bytes.ts';
import {
  FILE_CHUNK_LENGTH,
  openedFileLength,
  openFileChunk,
  SEALED_FILE_CHUNK_LENGTH,
  sealedFileLength,
  sealFileChunk,
} from '../../src/content/index.ts';
import { codeOf } from '../codeOf.ts';

const key = new Uint8Array(32).fill(9);
const length = 2 * FILE_CHUNK_LENGTH + 3;
const file = Uint8Array.from({ length }, (_, at) => at % 251);

function sealed(bytes: Uint8Array): Uint8Array[] {
  const count = Math.max(1, Math.ceil(bytes.length / FILE_CHUNK_LENGTH));
  return Array.from({ length: count }, (_, index) => {
    const chunk = bytes.subarray(index * FILE_CHUNK_LENGTH, (index + 1) * FILE_CHUNK_LENGTH);
    return sealFileChunk({ key, length: bytes.length }, index, chunk);
  });
}

const [first, second, last] = sealed(file) as [Uint8Array, Uint8Array, Uint8Array];
const whole = { key, sealedLength: sealedFileLength(length) };

describe('a sealed file', () => {
  it('opens chunk by chunk, in any order', () => {
    expect(whole.sealedLength).toBe(concat(first, second, last).length);
    const opened = [last, first, second].map((chunk, at) => openFileChunk(whole, [2, 0, 1][at] ?? 0, chunk));
    expect(concat(opened[1]!, opened[2]!, opened[0]!)).toEqual(file);
  });

  it('that is empty is one chunk of 16 bytes', () => {
    const [chunk] = sealed(new Uint8Array()) as [Uint8Array];
    expect(chunk).toHaveLength(16);
    expect(openFileChunk({ key, sealedLength: 16 }, 0, chunk)).toHaveLength(0);
  });

  it('has no chunk that opens at another place, under another key, or changed', () => {
    for (const open of [
      () => openFileChunk(whole, 1, first),
      () => openFileChunk(whole, 0, second),
      () => openFileChunk({ ...whole, key: new Uint8Array(32) }, 0, first),
      () =>
        openFileChunk(
          whole,
          0,
          first.map((octet, at) => (at === 7 ? octet ^ 1 : octet)),
        ),
    ]) {
      expect(codeOf(open)).toBe('decrypt-failed');
    }
  });

  it('is noticed to be cut or prolonged at its new last chunk', () => {
    const cut = { key, sealedLength: 2 * SEALED_FILE_CHUNK_LENGTH };
    expect(openFileChunk(cut, 0, first)).toHaveLength(FILE_CHUNK_LENGTH);
    expect(codeOf(() => openFileChunk(cut, 1, second))).toBe('decrypt-failed');
    const [only] = sealed(file.subarray(0, FILE_CHUNK_LENGTH)) as [Uint8Array];
    expect(codeOf(() => openFileChunk(whole, 0, only))).toBe('decrypt-failed');
  });

  it('has no chunk of another length, nor one beyond its end', () => {
    expect(codeOf(() => openFileChunk(whole, 0, first.subarray(1)))).toBe('malformed');
    expect(codeOf(() => openFileChunk(whole, 2, concat(last, new Uint8Array(1))))).toBe('malformed');
    for (const index of [-1, 0.5, 3, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(codeOf(() => openFileChunk(whole, index, first))).toBe('usage');
      expect(codeOf(() => sealFileChunk({ key, length }, index, file.subarray(0, FILE_CHUNK_LENGTH)))).toBe(
        'usage',
      );
    }
    expect(codeOf(() => sealFileChunk({ key, length }, 0, file.subarray(0, 5)))).toBe('usage');
    expect(codeOf(() => sealFileChunk({ key: key.subarray(1), length }, 2, file.subarray(0, 3)))).toBe(
      'malformed',
    );
  });

  it('has a length that tells how long the file is, and no other length is one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3 * FILE_CHUNK_LENGTH }),
        fc.nat({ max: 2 ** 40 }),
        (near, far) => {
          for (const one of [near, far]) expect(openedFileLength(sealedFileLength(one))).toBe(one);
        },
      ),
    );
    const bound = SEALED_FILE_CHUNK_LENGTH;
    for (const none of [-1, 0, 15, 1.5, bound + 1, bound + 16, 2 * bound + 7, Number.NaN, 2 ** 53]) {
      expect(codeOf(() => openedFileLength(none))).toBe('malformed');
    }
    for (const none of [-1, 0.5, Number.NaN, 2 ** 53])
      expect(codeOf(() => sealedFileLength(none))).toBe('usage');
    expect([16, 17, bound, bound + 17].map(openedFileLength)).toEqual([0, 1, bound - 16, bound - 15]);
  });
});
