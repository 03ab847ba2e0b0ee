/** A range of bytes, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const position = '(0|[1-9]\\d{0,14})';
const fromTo = new RegExp(`^bytes=${position}-${position}?$`);
const lastBytes = new RegExp(`^bytes=-${position}$`);

/**
 * Reads a Range header (RFC 9110, section 14.2) of one range.
 * @param length of the whole, at least 1
 * @returns null for one that asks for the whole, because it is of several ranges, of another unit or misspelt;
 * `unsatisfiable` for one with no byte of the whole in it
 */
export function byteRangeOf(header: string, length: number): ByteRange | 'unsatisfiable' | null {
  const suffix = lastBytes.exec(header)?.[1];
  if (suffix !== undefined) {
    const count = Math.min(Number(suffix), length);
    return count === 0 ? 'unsatisfiable' : { start: length - count, end: length - 1 };
  }
  const [, first, last = String(length - 1)] = fromTo.exec(header) ?? [];
  if (first === undefined) return null;
  const [start, end] = [Number(first), Math.min(Number(last), length - 1)];
  if (start >= length) return 'unsatisfiable';
  return end < start ? null : { start, end };
}
