/** Bytes of any length in a row: `opaque<V>` of RFC 9420 (section 2.1.2), whose length takes one, two or four bytes. */

/** The length before bytes. */
export function vectorHeader({ length }: Uint8Array): Uint8Array<ArrayBuffer> {
  if (length < 0x40) return Uint8Array.of(length);
  if (length < 0x4000) return Uint8Array.of(0x40 | (length >> 8), length);
  return Uint8Array.of(0x80 | (length >> 24), length >> 16, length >> 8, length);
}

/**
 * Reads bytes that are opaque<V> after opaque<V>; null for any others, also for a length that takes more bytes than it has to.
 * @param most more vectors than that are none: the shortest take a byte each, and far more of memory and time
 */
export function vectorsIn(bytes: Uint8Array, most: number): Uint8Array[] | null {
  const vectors: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (vectors.length === most) return null;
    const [first = 0, ...rest] = bytes.subarray(at, at + 4);
    const size = 1 << (first >> 6);
    const length = rest.slice(0, size - 1).reduce((sum, byte) => sum * 256 + byte, first & 0x3f);
    const vector = bytes.subarray(at + size, at + size + length);
    if (vector.length < length || vectorHeader(vector).length !== size) return null;
    vectors.push(vector);
    at += size + length;
  }
  return vectors;
}
