/** opaque<V> of RFC 9420 (section 2.1.2): the length takes one or two bytes, enough for what the relay signs and hashes. */
export function opaque(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  const header = length < 64 ? Buffer.of(length) : Buffer.of(0x40 | (length >> 8), length & 0xff);
  return Buffer.concat([header, bytes]);
}
