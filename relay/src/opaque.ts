/** opaque<V> of RFC 9420 (section 2.1.2): the length takes one, two or four bytes. */
export function opaque(bytes: Uint8Array): Buffer {
  return Buffer.concat([lengthOf(bytes), bytes]);
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 64) return Buffer.of(length);
  if (length < 0x4000) return Buffer.of(0x40 | (length >> 8), length & 0xff);
  const header = Buffer.alloc(4);
  header.writeUInt32BE((0x8000_0000 | length) >>> 0);
  return header;
}
