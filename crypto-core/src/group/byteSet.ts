import { equalBytes } from '../bytes.ts';

/**
 * A set of public byte strings. Buckets go by the first four bytes, so that a thousand keys of 1,216 bytes are
 * neither turned into text nor compared pairwise.
 */
export class ByteSet {
  readonly #buckets = new Map<number, Uint8Array[]>();

  /** @returns whether the value was new. */
  add(value: Uint8Array): boolean {
    const prefix = prefixOf(value);
    const bucket = this.#buckets.get(prefix);
    if (bucket === undefined) {
      this.#buckets.set(prefix, [value]);
      return true;
    }
    if (bucket.some((other) => equalBytes(other, value))) return false;
    bucket.push(value);
    return true;
  }

  has(value: Uint8Array): boolean {
    return this.#buckets.get(prefixOf(value))?.some((other) => equalBytes(other, value)) ?? false;
  }
}

function prefixOf(value: Uint8Array): number {
  return ((value[0] ?? 0) << 24) | ((value[1] ?? 0) << 16) | ((value[2] ?? 0) << 8) | (value[3] ?? 0);
}
