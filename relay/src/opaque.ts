/** opaque<V> of RFC 9420 (section 2.1.2): the length takes one, two or four bytes. */
export function opaque(bytes: Uint8Array): Buffer {
  return Buffer.concat([lengthOf(bytes), bytes]);
}

/** Reads bytes that are opaque<V> after opaque<V>; null for any others, also for a length that takes more bytes than it has to. */
export function opaquesIn(bytes: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = 1 << ((bytes[at] ?? 0) >> 6);
    if (header > 4 || at + header > bytes.length) return null;
    const length = bytes.readUIntBE(at, header) % 2 ** (8 * header - 2);
    const field = bytes.subarray(at + header, at + header + length);
    if (field.length < length || lengthOf(field).length !== header) return null;
    fields.push(field);
    at += header + length;
  }
  return fields;
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 64) return Buffer.of(length);
  if (length < 0x4000) return Buffer.of(0x40 | (length >> 8), length & 0xff);
  const header = Buffer.alloc(4);
  header.writeUInt32BE((0x8000_0000 | length) >>> 0);
  return header;
}
