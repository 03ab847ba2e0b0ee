/** Bytes of a file, from one position to before another. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads a `Range` header that names one range (RFC 9110, section 14.2), and cuts it off at the file's end.
 * @param size bytes of the file
 * @returns null for no range of the file, for several, and for what is no range
 */
export function parseRange(header: string, size: number): ByteRange | null {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return from < to ? { from, to } : null;
}

/** Returns the piece in which a range begins, and what of it the range has: an answer may have less than was asked for. */
export function firstPiece({ from, to }: ByteRange, pieceLength: number): ByteRange & { index: number } {
  const index = Math.floor(from / pieceLength);
  return { index, from, to: Math.min(to, (index + 1) * pieceLength) };
}
