import { CryptoError } from '../errors.ts';

const MAX_VECTOR_LENGTH = 2 ** 30 - 1;

/** Encoder of the TLS presentation language as RFC 9420 section 2.1 extends it, into one growing buffer. */
export class Writer {
  #bytes: Uint8Array;
  #length = 0;

  /** @param capacity expected size in bytes; the buffer grows when it turns out larger */
  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** @throws CryptoError 'usage' outside 0..2^8-1 */
  u8(value: number): void {
    assertUnsigned(value, 0xff);
    const at = this.#grow(1);
    this.#bytes[at] = value;
  }

  /** @throws CryptoError 'usage' outside 0..2^16-1 */
  u16(value: number): void {
    assertUnsigned(value, 0xffff);
    const at = this.#grow(2);
    this.#bytes[at] = value >> 8;
    this.#bytes[at + 1] = value;
  }

  /** @throws CryptoError 'usage' outside 0..2^32-1 */
  u32(value: number): void {
    assertUnsigned(value, 0xffffffff);
    this.#putU32(value);
  }

  /** @throws CryptoError 'usage' outside 0..2^64-1 */
  u64(value: bigint): void {
    // Epochs are small, and arithmetic of bigints costs more than writing one.
    const number = Number(value);
    if (number >= 0 && number <= Number.MAX_SAFE_INTEGER) {
      this.#putU32(number / 0x100000000);
      this.#putU32(number);
      return;
    }
    if (value < 0n || value > 0xffffffffffffffffn) throw new CryptoError('usage', 'integer out of range');
    this.#putU32(Number(value >> 32n));
    this.#putU32(Number(value & 0xffffffffn));
  }

  /** opaque[n], or bytes that are already encoded */
  bytes(value: Uint8Array): void {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
  }

  /** `length` zero bytes: padding */
  zeros(length: number): void {
    const at = this.#grow(length);
    this.#bytes.fill(0, at, at + length);
  }

  /** Zero bytes up to a length that is a multiple of `size`: padding. */
  zerosTo(size: number): void {
    this.zeros((size - (this.#length % size)) % size);
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
    const at = this.#grow(varintLength(value));
    writeVarint(this.#bytes, at, value);
  }

  /** Writes what `writeBody` writes, after a header with its length. */
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
    writeVarint(this.#bytes, start, length);
  }

  /** T items<V> */
  vector<T>(items: readonly T[], writeItem: (writer: Writer, item: T) => void): void {
    this.lengthPrefixed(() => {
      for (const item of items) writeItem(this, item);
    });
  }

  /** uint16 items<V>. @throws CryptoError 'usage' for an item outside 0..2^16-1 */
  u16s(items: readonly number[]): void {
    this.varint(2 * items.length);
    for (const item of items) this.u16(item);
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

  /** Starts over, in the buffer that is there: for thousands of values of which only hashes are kept. */
  clear(): void {
    this.#length = 0;
  }

  /** Returns the bytes written, which the next call overwrites. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Overwrites the bytes written, and starts over. */
  wipe(): void {
    this.#bytes.fill(0, 0, this.#length);
    this.#length = 0;
  }

  /** Size in bytes of the buffer that is there. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** Returns the bytes written, in an array of their own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #putU32(value: number): void {
    const at = this.#grow(4);
    this.#bytes[at] = value >>> 24;
    this.#bytes[at + 1] = value >>> 16;
    this.#bytes[at + 2] = value >>> 8;
    this.#bytes[at + 3] = value;
  }

  /** Makes room and returns its offset. Callers read `#bytes` only afterwards, because this may replace it. */
  #grow(by: number): number {
    const start = this.#length;
    this.#length = start + by;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, start));
      this.#bytes = grown;
    }
    return start;
  }
}

/** Bytes of a writer that is kept, at least and at most. */
const SPARE_CAPACITY = { least: 1024, most: 0x1_0000 } as const;

/** Writers that nobody uses: for the small structures of a message a new buffer costs more than what is written. */
const spareWriters: Writer[] = [];

/** Encodes one value. @param capacity expected size in bytes, when it is large */
export function encode<T>(
  value: T,
  write: (writer: Writer, value: T) => void,
  capacity?: number,
): Uint8Array {
  return withEncoded(value, write, copy, capacity);
}

/**
 * Encodes bytes as opaque<V>: after their length, in 1, 2 or 4 bytes (RFC 9420 section 2.1.2).
 * @throws CryptoError 'usage' for 2^30 bytes or more
 */
export function encodeOpaque(bytes: Uint8Array): Uint8Array {
  return encode(bytes, (writer, value) => writer.opaque(value), bytes.length + 4);
}

function copy(bytes: Uint8Array): Uint8Array {
  return bytes.slice();
}

/** Encodes one value for the time of a call. @param take gets the bytes, which are overwritten after it */
export function withEncoded<T, R>(
  value: T,
  write: (writer: Writer, value: T) => void,
  take: (bytes: Uint8Array) => R,
  capacity = 0,
): R {
  const spare = capacity <= SPARE_CAPACITY.most ? spareWriters.pop() : undefined;
  const writer = spare ?? new Writer(Math.max(capacity, SPARE_CAPACITY.least));
  try {
    write(writer, value);
    return take(writer.view());
  } finally {
    writer.wipe();
    if (writer.capacity <= SPARE_CAPACITY.most) spareWriters.push(writer);
  }
}

/** Size in bytes of the header of a vector of `length` bytes. @throws CryptoError 'usage' beyond 2^30-1 */
export function varintLength(length: number): 1 | 2 | 4 {
  if (length < 0x40) return 1;
  if (length < 0x4000) return 2;
  if (length <= MAX_VECTOR_LENGTH) return 4;
  throw new CryptoError('usage', 'vector too long');
}

/** Writes the length header of a vector of `value` bytes at `at`: `varintLength(value)` bytes. */
export function writeVarint(target: Uint8Array, at: number, value: number): void {
  switch (varintLength(value)) {
    case 1:
      target[at] = value;
      return;
    case 2:
      target[at] = 0x40 | (value >> 8);
      target[at + 1] = value;
      return;
    case 4:
      target[at] = 0x80 | (value >> 24);
      target[at + 1] = value >> 16;
      target[at + 2] = value >> 8;
      target[at + 3] = value;
  }
}

function assertUnsigned(value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new CryptoError('usage', 'integer out of range');
}
