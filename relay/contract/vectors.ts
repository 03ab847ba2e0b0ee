/** Bytes of any length in a row: `opaque<V>` of RFC 9420 (section 2.1.2), whose length takes one, two or four bytes. */

/** The length before bytes. */
export function vectorHeader({ length }: Uint8Array): Uint8Array<ArrayBuffer> {
  if (length < 0x40) return Uint8Array.of(length);
  if (length < 0x4000) return Uint8Array.of(0x40 | (length >> 8), length);
  return Uint8Array.of(0x80 | (length >> 24), length >> 16, length >> 8, length);
}

/** Reads bytes that are opaque<V> after opaque<V>; null for any others, also for a length that takes more bytes than it has to. */
export function vectorsIn(bytes: Uint8Array): Uint8Array[] | null {
  const vectors: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [first = 0] = bytes.subarray(at);
    const header = bytes.subarray(at, at + (1 << (first >> 6)));
    const length = header.reduce((sum, byte) => sum * 256 + byte) % 2 ** (8 * header.length - 2);
    at += header.length;
    const vector = bytes.subarray(at, at + length);
    if (vector.length < length || vectorHeader(vector).length !== header.length) return null;
    vectors.push(vector);
    at += length;
  }
  return vectors;
}
