import { describe, expect, it } from 'vitest';
import { between, compareBytes, findRepeated } from '../../src/codec/order.ts';
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
