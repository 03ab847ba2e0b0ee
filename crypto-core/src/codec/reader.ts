import { EMPTY, octetAt } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';

type ItemLimit = Exclude<keyof Limits, 'groupIdBytes'>;

/**
 * Strict decoder of the TLS presentation language as RFC 9420 section 2.1 extends it. Every failure, whatever the
 * input, is CryptoError 'malformed', or 'unsupported' beyond a limit. Byte strings come back as views of the message: a
 * caller that keeps one beyond the message copies it.
 */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #limits: Limits;
  #offset = 0;

  constructor(bytes: Uint8Array, limits: Limits = DEFAULT_LIMITS) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  /** Bytes not yet read. */
  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  /** Bytes read so far. Given to `since` after parsing a value, it yields the exact encoding of that value. */
  get offset(): number {
    return this.#offset;
  }

  /** The bytes read since an earlier `offset`. */
  since(offset: number): Uint8Array {
    return this.#bytes.subarray(offset, this.#offset);
  }

  u8(): number {
    return octetAt(this.#bytes, this.#take(1));
  }

  /** The next octet, which stays to be read. */
  peek(): number {
    const octet = this.u8();
    this.#offset -= 1;
    return octet;
  }

  u16(): number {
    const at = this.#take(2);
    return (octetAt(this.#bytes, at) << 8) | octetAt(this.#bytes, at + 1);
  }

  u32(): number {
    const high = this.u16();
    return high * 0x10000 + this.u16();
  }

  u64(): bigint {
    const high = BigInt(this.u32());
    return (high << 32n) | BigInt(this.u32());
  }

  /** opaque[length] */
  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    // Empty strings are the cheapest to send, and a view of one costs as much as any other.
    if (length === 0) return EMPTY;
    return this.#bytes.subarray(start, start + length);
  }

  /** opaque<V> */
  opaque(): Uint8Array {
    return this.bytes(this.varint());
  }

  /** `opaque group_id<V>`, of a length within the limit. */
  groupId(): Uint8Array {
    const id = this.opaque();
    if (id.length > this.#limits.groupIdBytes) throw new CryptoError('malformed', 'length of a group id');
    return id;
  }

  /** The length header of a variable-size vector (RFC 9420 section 2.1.2): 1, 2 or 4 bytes, the shortest that fits. */
  varint(): number {
    const first = this.u8();
    const prefix = first >> 6;
    if (prefix === 0) return first;
    if (prefix === 1) {
      const value = ((first & 0x3f) << 8) | this.u8();
      if (value < 0x40) throw new CryptoError('malformed', 'length not minimally encoded');
      return value;
    }
    if (prefix === 2) {
      const value = ((first & 0x3f) << 24) | (this.u8() << 16) | this.u16();
      if (value < 0x4000) throw new CryptoError('malformed', 'length not minimally encoded');
      return value;
    }
    throw new CryptoError('malformed', 'invalid length prefix');
  }

  /** T items<V>, at most as many as the limit. @throws CryptoError 'unsupported' beyond it */
  vector<T>(limit: ItemLimit, readItem: (reader: Reader) => T): T[] {
    return this.#items(limit, readItem);
  }

  /** uint16 items<V>, at most as many as the limit. @throws CryptoError 'unsupported' beyond it */
  u16s(limit: ItemLimit): number[] {
    const bytes = this.opaque();
    const most = this.#limits[limit];
    if (bytes.length > 2 * most) throw new CryptoError('unsupported', `more than ${most} ${limit}`);
    if (bytes.length % 2 !== 0) throw new CryptoError('malformed', 'truncated');
    // It has its length from the start: a list that grows leaves twice its size to be collected, for each leaf of a tree.
    const items: number[] = [];
    items.length = bytes.length / 2;
    for (let at = 0; at < items.length; at += 1) {
      items[at] = (octetAt(bytes, 2 * at) << 8) | octetAt(bytes, 2 * at + 1);
    }
    return items;
  }

  /** T items<V> of a record of this client's own. */
  unlimitedVector<T>(readItem: (reader: Reader) => T): T[] {
    return this.#items(null, readItem);
  }

  #items<T>(limit: ItemLimit | null, readItem: (reader: Reader) => T): T[] {
    const inner = new Reader(this.opaque(), this.#limits);
    const items: T[] = [];
    const most = limit === null ? Infinity : this.#limits[limit];
    while (inner.remaining > 0) {
      if (items.length >= most) throw new CryptoError('unsupported', `more than ${most} ${limit}`);
      const before = inner.remaining;
      items.push(readItem(inner));
      // An item that takes no bytes would let nine bytes of input describe an endless list.
      if (inner.remaining === before) throw new CryptoError('malformed', 'vector of empty items');
    }
    return items;
  }

  /** optional<T> */
  optional<T>(read: (reader: Reader) => T): T | null {
    const present = this.u8();
    if (present === 0) return null;
    if (present === 1) return read(this);
    throw new CryptoError('malformed', 'invalid presence octet');
  }

  /** Reads what is left as zero bytes. @param what names the padding in the error */
  zeros(what: string): void {
    for (const octet of this.bytes(this.remaining)) {
      if (octet !== 0) throw new CryptoError('malformed', what);
    }
  }

  /** Asserts that everything was read. */
  end(): void {
    if (this.remaining !== 0) throw new CryptoError('malformed', `${this.remaining} trailing bytes`);
  }

  #take(length: number): number {
    const start = this.#offset;
    if (length > this.#bytes.length - start) throw new CryptoError('malformed', 'truncated');
    this.#offset = start + length;
    return start;
  }
}

/** Decodes exactly one value. @throws CryptoError 'malformed', also for trailing bytes; 'unsupported' beyond a limit */
export function decode<T>(bytes: Uint8Array, read: (reader: Reader) => T, limits?: Limits): T {
  const reader = new Reader(bytes, limits);
  const value = read(reader);
  reader.end();
  return value;
}
