import { vectorHeader, vectorsIn } from '../contract/index.ts';

/** opaque<V> of RFC 9420 (section 2.1.2). */
export function opaque(bytes: Uint8Array): Buffer {
  return Buffer.concat([vectorHeader(bytes), bytes]);
}

/** Reads bytes that are opaque<V> after opaque<V>; null for any others. */
export function opaquesIn(bytes: Buffer): Buffer[] | null {
  return (
    vectorsIn(bytes)?.map(({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length)) ?? null
  );
}
