import { describe, expect, it } from 'vitest';
import { between, compareBytes, findRepeated, findRepetitionOf, isAmong } from '../../src/codec/order.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('order');
const bytes = (...octets: number[]) => Uint8Array.from(octets);

describe('compareBytes', () => {
  it('orders by the first differing byte, then by length', () => {
    const ascending = [bytes(), bytes(0), bytes(0, 0), bytes(0, 255), bytes(1), bytes(255)];
    for (const [at, a] of ascending.entries()) {
      for (const [other, b] of ascending.entries()) {
        expect(Math.sign(compareBytes(a, b))).toBe(Math.sign(at - other));
      }
    }
  });
});

describe('findRepeated', () => {
  it('finds both places of a byte string that occurs twice, and no other', () => {
    expect(findRepeated([])).toBeNull();
    expect(findRepeated([bytes(1), bytes(1, 0), bytes(0, 1), bytes()])).toBeNull();
    expect(findRepeated([bytes(9), bytes(1, 2), bytes(3), bytes(1, 2)])).toEqual([1, 3]);
    expect(findRepeated([bytes(), bytes(1), bytes()])).toEqual([0, 2]);
  });

  it('answers as a set of their texts does', () => {
    for (let round = 0; round < 50; round += 1) {
      const values = Array.from({ length: 20 }, () => env.random(1).map((octet) => octet % 120));
      const hasRepeated = new Set(values.map(String)).size < values.length;
      expect(findRepeated(values) !== null).toBe(hasRepeated);
    }
  });
});

describe('findRepetitionOf', () => {
  it('answers as findRepeated does, when the other byte strings differ from one another', () => {
    let found = 0;
    for (let round = 0; round < 200; round += 1) {
      const others = Array.from({ length: 12 }, (_, at) => bytes(at, 7));
      const values = others.map((value, at) =>
        at % 4 === round % 4 ? bytes((env.random(1)[0] ?? 0) % 99, 7) : value,
      );
      const some = [...values.keys()].filter((at) => at % 4 === round % 4);
      const expected = findRepeated(values);
      if (expected !== null) found += 1;
      const answer = findRepetitionOf(values, some);
      expect(answer === null).toBe(expected === null);
      if (answer === null) continue;
      expect(answer[0]).toBeLessThan(answer[1]);
      expect(values[answer[0]]).toEqual(values[answer[1]]);
    }
    expect(found).toBeGreaterThan(20);
    expect(found).toBeLessThan(180);
  });

  it('does not look at two others that are the same', () => {
    expect(findRepetitionOf([bytes(1), bytes(1), bytes(2)], [2])).toBeNull();
    expect(findRepetitionOf([bytes(1), bytes(1), bytes(2)], [0])).toEqual([0, 1]);
    expect(findRepetitionOf([bytes(1), bytes(1)], [])).toBeNull();
  });
});

describe('isAmong', () => {
  it('finds each of the sorted byte strings, and none between, before or after them', () => {
    for (let count = 0; count < 8; count += 1) {
      const sorted = Array.from({ length: count }, (_, at) => bytes(2 * at + 1));
      for (let value = 0; value <= 2 * count; value += 1) {
        expect(isAmong(sorted, bytes(value))).toBe(value % 2 === 1);
      }
    }
  });
});

describe('between', () => {
  it('gives the entries from the first to the last number, both included', () => {
    const list = [1, 3, 3, 8, 10];
    for (let first = 0; first < 12; first += 1) {
      for (let last = first; last < 12; last += 1) {
        expect(between(list, first, last)).toEqual(list.filter((entry) => entry >= first && entry <= last));
      }
    }
  });
});
