/** Orders of byte strings and of numbers, for sets that a stranger fills: no choice of theirs makes these slower. */
import { EMPTY, octetAt } from '../bytes.ts';

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
  sorted.sort((a, b) => compareBytes(a.value, b.value) || a.index - b.index);
  for (const [at, { value, index }] of sorted.entries()) {
    const before = sorted[at - 1];
    if (before !== undefined && compareBytes(before.value, value) === 0) return [before.index, index];
  }
  return null;
}

/**
 * Finds a public byte string, of those at `some` places of a list, that occurs in the list again.
 * @param some in ascending order; the other places hold strings that are known to differ from one another
 * @returns the indices of both occurrences, in ascending order; null when there are none
 */
export function findRepetitionOf(
  values: readonly Uint8Array[],
  some: readonly number[],
): readonly [number, number] | null {
  const known = new Set(some);
  const chosen = some.map((index) => values[index] ?? EMPTY);
  const twice = findRepeated(chosen);
  if (twice !== null) return [some[twice[0]] ?? 0, some[twice[1]] ?? 0];
  const sorted = chosen.toSorted(compareBytes);
  for (const [index, value] of values.entries()) {
    if (known.has(index) || !isAmong(sorted, value)) continue;
    const other = some.find((at) => compareBytes(values[at] ?? EMPTY, value) === 0) ?? index;
    return [Math.min(index, other), Math.max(index, other)];
  }
  return null;
}

/** Finds a byte string among others that are sorted by `compareBytes`. */
export function isAmong(sorted: readonly Uint8Array[], value: Uint8Array): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = sorted[middle];
    const order = candidate === undefined ? 0 : compareBytes(candidate, value);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
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
