/** Orders of byte strings and of numbers, for sets that a stranger fills: no choice of theirs makes these slower. */
import { octetAt } from '../bytes.ts';

/** Compares byte strings by their first differing byte, then by length: negative when `a` comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = octetAt(a, at) - octetAt(b, at);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/**
 * Finds a public byte string that occurs twice. It sorts, because buckets by a few bytes can be filled with thousands of
 * keys that share these bytes.
 * @returns the indices of both occurrences, in ascending order; null when there are none
 */
export function findRepeated(values: readonly Uint8Array[]): readonly [number, number] | null {
  const sorted = values.map((value, index) => ({ value, index }));
  // Equal values stay in the order of their indices.
  sorted.sort((a, b) => compareBytes(a.value, b.value));
  for (const [at, { value, index }] of sorted.entries()) {
    const before = sorted[at - 1];
    if (before !== undefined && compareBytes(before.value, value) === 0) return [before.index, index];
  }
  return null;
}

/** Returns the part of an ascending list that lies between two numbers, both included. */
export function between<T extends number>(
  ascending: readonly T[],
  first: number,
  last: number,
): readonly T[] {
  return ascending.slice(firstAtLeast(ascending, first), firstAtLeast(ascending, last + 1));
}

/** Finds the index of the first entry of an ascending list that is at least `bound`. */
function firstAtLeast(ascending: readonly number[], bound: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
