import { CryptoError } from '../errors.ts';

const MAX_VECTOR_LENGTH = 2 ** 30 - 1;

/** Encoder of the TLS presentation language as RFC 9420 section 2.1 extends it, into one growing buffer. */
export class Writer {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  /** @param capacity expected size in bytes; the buffer grows when it turns out larger */
  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** @throws CryptoError 'usage' outside 0..2^8-1 */
  u8(value: number): void {
    assertUnsigned(value, 0xff);
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
  }

  /** @throws CryptoError 'usage' outside 0..2^16-1 */
  u16(value: number): void {
    assertUnsigned(value, 0xffff);
    const at = this.#grow(2);
    this.#view.setUint16(at, value);
  }

  /** @throws CryptoError 'usage' outside 0..2^32-1 */
  u32(value: number): void {
    assertUnsigned(value, 0xffffffff);
    const at = this.#grow(4);
    this.#view.setUint32(at, value);
  }

  /** @throws CryptoError 'usage' outside 0..2^64-1 */
  u64(value: bigint): void {
    if (value < 0n || value > 0xffffffffffffffffn) throw new CryptoError('usage', 'integer out of range');
    const at = this.#grow(8);
    this.#view.setBigUint64(at, value);
  }

  /** opaque[n], or bytes that are already encoded */
  bytes(value: Uint8Array): void {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
  }

  /** `length` zero bytes: padding */
  zeros(length: number): void {
    // Room that was never written to is zero already.
    this.#grow(length);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** opaque<V> */
  opaque(value: Uint8Array): void {
    this.varint(value.length);
    this.bytes(value);
  }

  /** The length header of a variable-size vector (RFC 9420 section 2.1.2). */
  varint(value: number): void {
    writeVarint(this.#reserveVarint(value), value);
  }

  /** A length header around whatever `writeBody` writes. */
  lengthPrefixed(writeBody: (writer: Writer) => void): void {
    // Most vectors fit the one-byte header; longer ones are moved once, when their length is known.
    const start = this.#grow(1);
    writeBody(this);
    const length = this.#length - start - 1;
    const header = varintLength(length);
    if (header > 1) {
      this.#grow(header - 1);
      this.#bytes.copyWithin(start + header, start + 1, start + 1 + length);
    }
    writeVarint(this.#bytes.subarray(start, start + header), length);
  }

  /** T items<V> */
  vector<T>(items: readonly T[], writeItem: (writer: Writer, item: T) => void): void {
    this.lengthPrefixed(() => {
      for (const item of items) writeItem(this, item);
    });
  }

  /** optional<T> */
  optional<T>(value: T | null, write: (writer: Writer, value: T) => void): void {
    if (value === null) {
      this.u8(0);
      return;
    }
    this.u8(1);
    write(this, value);
  }

  /** What was written, in an array of its own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserveVarint(value: number): Uint8Array {
    const size = varintLength(value);
    const at = this.#grow(size);
    return this.#bytes.subarray(at, at + size);
  }

  /** Makes room and returns where it starts. To be called before `#bytes` or `#view` is read: it may replace them. */
  #grow(by: number): number {
    const start = this.#length;
    this.#length = start + by;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, start));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return start;
  }
}

/** Encodes one value. */
export function encode<T>(
  value: T,
  write: (writer: Writer, value: T) => void,
  capacity?: number,
): Uint8Array {
  const writer = new Writer(capacity);
  write(writer, value);
  return writer.finish();
}

/** Size in bytes of the header of a vector of `length` bytes. @throws CryptoError 'usage' beyond 2^30-1 */
export function varintLength(length: number): 1 | 2 | 4 {
  if (length < 0x40) return 1;
  if (length < 0x4000) return 2;
  if (length <= MAX_VECTOR_LENGTH) return 4;
  throw new CryptoError('usage', 'vector too long');
}

/** Writes `value` as the length header that exactly fills `target` (`varintLength(value)` bytes). */
export function writeVarint(target: Uint8Array, value: number): void {
  switch (target.length) {
    case 1:
      target[0] = value;
      return;
    case 2:
      target[0] = 0x40 | (value >> 8);
      target[1] = value;
      return;
    default:
      target[0] = 0x80 | (value >> 24);
      target[1] = value >> 16;
      target[2] = value >> 8;
      target[3] = value;
  }
}

function assertUnsigned(value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new CryptoError('usage', 'integer out of range');
}
