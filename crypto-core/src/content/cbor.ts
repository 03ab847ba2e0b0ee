/**
 * CBOR (RFC 8949) as MIMI content has it: the core deterministic encoding of section 4.2.1, which gives each value one form,
 * without tags and floating-point numbers. Integers are those that a number holds exactly.
 */
import { fromUtf8, utf8 } from '../bytes.ts';
import { compareBytes } from '../codec/order.ts';
import { Reader } from '../codec/reader.ts';
import { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;
const FALSE = 20;
const TRUE = 21;
const NULL = 22;

export type CborValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly CborValue[]
  | ReadonlyMap<number | string, CborValue>;

interface Left {
  values: number;
}

/**
 * Strict decoder. Every failure, whatever the input, is CryptoError 'malformed', or 'unsupported' for what is well-formed
 * CBOR of a kind that isn't spoken here. Byte strings are views of the input.
 */
export class CborReader {
  readonly #reader: Reader;

  constructor(bytes: Uint8Array) {
    this.#reader = new Reader(bytes);
  }

  /** An unsigned integer up to `most`. */
  unsigned(most: number): number {
    const value = this.#argument(MAJOR.unsigned);
    if (value > most) throw new CryptoError('malformed', 'CBOR integer out of range');
    return value;
  }

  bytes(): Uint8Array {
    return this.#reader.bytes(this.#argument(MAJOR.bytes));
  }

  /** A text string, well-formed UTF-8. */
  text(): string {
    return fromUtf8(this.#reader.bytes(this.#argument(MAJOR.text)));
  }

  boolean(): boolean {
    const value = this.#simple();
    if (value === null) throw new CryptoError('malformed', 'CBOR boolean');
    return value;
  }

  /** The header of an array. @returns the number of items, which are to be read next */
  array(): number {
    return this.#argument(MAJOR.array);
  }

  /** null, or what `read` reads. */
  nullable<T>(read: (reader: this) => T): T | null {
    if (this.#reader.peek() !== ((MAJOR.simple << 5) | NULL)) return read(this);
    this.#reader.u8();
    return null;
  }

  /**
   * A map with integers and texts as keys, in ascending order of their encodings.
   * @param depth levels of arrays and maps that may be in it, itself included
   * @param most keys and values that may be in it, at all levels: an empty map takes a byte, and far more of memory and time
   * @throws CryptoError 'unsupported' for more than those
   */
  map(depth: number, most: number): Map<number | string, CborValue> {
    return this.#map(depth, { values: most });
  }

  /** Asserts that everything was read. */
  end(): void {
    this.#reader.end();
  }

  #map(depth: number, left: Left): Map<number | string, CborValue> {
    const count = this.#argument(MAJOR.map);
    if (depth < 1) throw new CryptoError('malformed', 'CBOR is nested too deeply');
    const entries = new Map<number | string, CborValue>();
    let before: Uint8Array | null = null;
    for (let index = 0; index < count; index += 1) {
      const start = this.#reader.offset;
      const key = this.#value(0, left);
      if (typeof key !== 'number' && typeof key !== 'string')
        throw new CryptoError('unsupported', 'CBOR map with other keys than integers and texts');
      const encoded = this.#reader.since(start);
      // Equal keys are neighbours in this order, so that none comes twice.
      if (before !== null && compareBytes(before, encoded) >= 0)
        throw new CryptoError('malformed', 'CBOR map keys out of order');
      before = encoded;
      entries.set(key, this.#value(depth - 1, left));
    }
    return entries;
  }

  #value(depth: number, left: Left): CborValue {
    left.values -= 1;
    if (left.values < 0) throw new CryptoError('unsupported', 'more CBOR than anybody sends');
    switch (this.#reader.peek() >> 5) {
      case MAJOR.unsigned:
        return this.#argument(MAJOR.unsigned);
      case MAJOR.negative: {
        const value = -1 - this.#argument(MAJOR.negative);
        if (!Number.isSafeInteger(value)) throw new CryptoError('unsupported', 'CBOR integer');
        return value;
      }
      case MAJOR.bytes:
        return this.bytes();
      case MAJOR.text:
        return this.text();
      case MAJOR.array: {
        const count = this.array();
        if (depth < 1) throw new CryptoError('malformed', 'CBOR is nested too deeply');
        const items: CborValue[] = [];
        for (let index = 0; index < count; index += 1) items.push(this.#value(depth - 1, left));
        return items;
      }
      case MAJOR.map:
        return this.#map(depth, left);
      default:
        return this.#simple();
    }
  }

  #simple(): boolean | null {
    const octet = this.#reader.u8();
    if (octet >> 5 === MAJOR.tag) throw new CryptoError('unsupported', 'CBOR tag');
    if (octet >> 5 !== MAJOR.simple) throw new CryptoError('malformed', 'CBOR of another type');
    switch (octet & 0x1f) {
      case FALSE:
        return false;
      case TRUE:
        return true;
      case NULL:
        return null;
      default:
        throw new CryptoError('unsupported', 'CBOR simple value or floating-point number');
    }
  }

  /** Reads the head of an item of that major type, and its argument in the shortest form. */
  #argument(major: number): number {
    const octet = this.#reader.u8();
    if (octet >> 5 !== major) throw new CryptoError('malformed', 'CBOR of another type');
    const info = octet & 0x1f;
    if (info < 24) return info;
    const [value, least] = this.#longArgument(info);
    if (value < least) throw new CryptoError('malformed', 'CBOR argument longer than it must be');
    return value;
  }

  #longArgument(info: number): [value: number, least: number] {
    switch (info) {
      case 24:
        return [this.#reader.u8(), 24];
      case 25:
        return [this.#reader.u16(), 2 ** 8];
      case 26:
        return [this.#reader.u32(), 2 ** 16];
      case 27: {
        const value = this.#reader.u64();
        if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new CryptoError('unsupported', 'CBOR integer');
        return [Number(value), 2 ** 32];
      }
      default:
        throw new CryptoError('malformed', 'CBOR of indefinite or reserved length');
    }
  }
}

/** Encoder, into one growing buffer. */
export class CborWriter {
  readonly #writer = new Writer();

  /** @throws CryptoError 'usage' for anything but an integer from 0 to `most` */
  unsigned(value: number, most: number): void {
    if (!Number.isSafeInteger(value) || value < 0 || value > most)
      throw new CryptoError('usage', 'CBOR integer');
    this.#head(MAJOR.unsigned, value);
  }

  bytes(value: Uint8Array): void {
    this.#head(MAJOR.bytes, value.length);
    this.#writer.bytes(value);
  }

  /** @throws CryptoError 'usage' for a text with lone surrogates, for which there is no UTF-8 */
  text(value: string): void {
    // Browsers as old as those that are supported have no isWellFormed.
    if (/\p{Surrogate}/u.test(value)) throw new CryptoError('usage', 'lone surrogate');
    const encoded = utf8(value);
    this.#head(MAJOR.text, encoded.length);
    this.#writer.bytes(encoded);
  }

  boolean(value: boolean): void {
    this.#head(MAJOR.simple, value ? TRUE : FALSE);
  }

  /** The header of an array, whose items are to be written next. */
  array(length: number): void {
    this.#head(MAJOR.array, length);
  }

  nullable<T>(value: T | null, write: (value: T) => void): void {
    if (value === null) this.#head(MAJOR.simple, NULL);
    else write(value);
  }

  /** @throws CryptoError 'usage' beyond what {@link CborReader.map} reads with the same limits */
  map(entries: ReadonlyMap<number | string, CborValue>, depth: number, most: number): void {
    this.#map(entries, depth, { values: most });
  }

  /** Returns the bytes written, in an array of their own. */
  finish(): Uint8Array {
    return this.#writer.finish();
  }

  #map(entries: ReadonlyMap<number | string, CborValue>, depth: number, left: Left): void {
    if (depth < 1) throw new CryptoError('usage', 'CBOR is nested too deeply');
    const sorted = [...entries]
      .map(([key, value]) => ({ key: encodeCbor((w) => w.#value(key, 0, left)), value }))
      .sort((one, other) => compareBytes(one.key, other.key));
    this.#head(MAJOR.map, sorted.length);
    for (const { key, value } of sorted) {
      this.#writer.bytes(key);
      this.#value(value, depth - 1, left);
    }
  }

  #value(value: CborValue, depth: number, left: Left): void {
    left.values -= 1;
    if (left.values < 0) throw new CryptoError('usage', 'more CBOR than anybody reads');
    if (value === null) this.nullable(null, () => {});
    else if (typeof value === 'boolean') this.boolean(value);
    else if (typeof value === 'number') this.#integer(value);
    else if (typeof value === 'string') this.text(value);
    else if (value instanceof Uint8Array) this.bytes(value);
    else if (isMap(value)) this.#map(value, depth, left);
    else {
      if (depth < 1) throw new CryptoError('usage', 'CBOR is nested too deeply');
      this.array(value.length);
      for (const item of value) this.#value(item, depth - 1, left);
    }
  }

  #integer(value: number): void {
    if (!Number.isSafeInteger(value)) throw new CryptoError('usage', 'CBOR integer');
    if (value < 0) this.#head(MAJOR.negative, -1 - value);
    else this.#head(MAJOR.unsigned, value);
  }

  #head(major: number, argument: number): void {
    const first = major << 5;
    if (argument < 24) this.#writer.u8(first | argument);
    else if (argument < 2 ** 8) {
      this.#writer.u8(first | 24);
      this.#writer.u8(argument);
    } else if (argument < 2 ** 16) {
      this.#writer.u8(first | 25);
      this.#writer.u16(argument);
    } else if (argument < 2 ** 32) {
      this.#writer.u8(first | 26);
      this.#writer.u32(argument);
    } else {
      this.#writer.u8(first | 27);
      this.#writer.u64(BigInt(argument));
    }
  }
}

/** Encodes what `write` writes. */
export function encodeCbor(write: (writer: CborWriter) => void): Uint8Array {
  const writer = new CborWriter();
  write(writer);
  return writer.finish();
}

function isMap(
  value: readonly CborValue[] | ReadonlyMap<number | string, CborValue>,
): value is ReadonlyMap<number | string, CborValue> {
  return value instanceof Map;
}
