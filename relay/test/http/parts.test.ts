import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { readParts, writeParts } from '../../src/http/parts.ts';
import { opaque, opaquesIn } from '../../src/opaque.ts';
import { createRandom } from '../random.ts';

const seed = 0x51ae774;
const names = ['commit', 'segments', 'sealed'];
const text = (length: number) => randomBytes(length).toString('base64url');
const malformed = expect.objectContaining({ code: 'malformed' });
const body = (json: string, ...parts: Buffer[]) => Buffer.concat([Buffer.from(json), ...parts].map(opaque));

const partsOf = (bytes: Buffer) => opaquesIn(bytes)?.slice(1);

/** Reads bytes. @returns the code of their refusal where they are refused */
function valueOf(bytes: Buffer): unknown {
  try {
    return readParts(bytes, names);
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe('a body with parts', () => {
  it.each([0, 1, 63, 64, 16_383, 16_384, 70_000])('has byte strings of %d bytes as bytes', (length) => {
    const value = {
      epoch: 3,
      commit: text(length),
      list: [{ sealed: text(5) }, { sealed: null }],
      segments: [text(2), ''],
    };
    const bytes = writeParts(value, names);
    expect(readParts(bytes, names)).toEqual(value);
    expect(opaquesIn(bytes)?.map((part) => part.length)).toEqual([expect.any(Number), length, 5, 2, 0]);
    expect(opaquesIn(bytes)?.[0]?.toString()).toBe(
      '{"epoch":3,"commit":0,"list":[{"sealed":1},{"sealed":null}],"segments":[2,3]}',
    );
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['JSON alone', Buffer.from('{"commit":"AAAA"}')],
    ['a text in the place of a number', body('{"commit":"AAAA"}')],
    ['a list in the place of a number', body('{"segments":[[0]]}', Buffer.of(1))],
    ['an object in the place of a number', body('{"commit":{"sealed":0}}', Buffer.of(1))],
    ['a part that is not there', body('{"commit":1}', Buffer.of(1))],
    ['a part that nothing names', body('{"epoch":0}', Buffer.of(1))],
    ['a part that is named twice', body('{"commit":0,"sealed":0}', Buffer.of(1))],
    ['parts out of order', body('{"commit":1,"sealed":0}', Buffer.of(1), Buffer.of(2))],
    [
      'a length that takes more bytes than it has to',
      Buffer.concat([body('{"commit":0}'), Buffer.of(0x40, 1, 7)]),
    ],
    [
      'a length of eight bytes',
      Buffer.concat([body('{"commit":0}'), Buffer.of(0xc0, 0, 0, 0, 0, 0, 0, 1, 7)]),
    ],
    ['a length beyond its end', Buffer.concat([body('{"commit":0}'), Buffer.of(0xbf, 0xff, 0xff, 0xff, 1)])],
    ['a length one byte beyond its end', Buffer.concat([body('{"commit":0}'), Buffer.of(2, 1)])],
    ['text that is no UTF-8', Buffer.concat([opaque(Buffer.of(0x22, 0xff, 0x22))])],
    ['a byte order mark', body('\ufeff{"epoch":1}')],
    ['lists in lists without an end', body('['.repeat(100_000))],
    ['lists in lists', body(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
  ])('is refused: %s', (_name, bytes) => {
    expect(() => readParts(bytes, names)).toThrow(malformed);
  });

  it(`that has any byte changed is refused, or has its parts, each of them once (seed ${seed})`, () => {
    const random = createRandom(seed);
    const value = {
      epoch: 3,
      commit: text(70),
      more: [{ sealed: text(5) }, { sealed: null }],
      segments: [text(2)],
    };
    const bytes = writeParts(value, names);
    const kept: unknown[][] = [];
    let refused = 0;
    for (let count = 0; count < 4000; count++) {
      const at = random.below(bytes.length);
      const changed = Buffer.from(bytes.with(at, random.below(256)));
      const read = valueOf(changed);
      if (read === 'malformed') refused += 1;
      else kept.push([partsOf(writeParts(read, names)), partsOf(changed)]);
    }
    for (const [written, sent] of kept) expect(written).toEqual(sent);
    expect(refused).toBeGreaterThan(1000);
    expect(refused).toBeLessThan(3900);
  });
});
