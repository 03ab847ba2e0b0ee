/** Mutations of bytes by a seed, so that a failure can be repeated. */
import { concat } from '../src/bytes.ts';

/** A small deterministic generator (mulberry32): whole numbers from 0 to below the limit. */
export function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Flips, overwrites, cuts out, repeats or appends somewhere. */
export function mutateBytes(bytes: Uint8Array, below: (limit: number) => number): Uint8Array {
  const at = below(bytes.length);
  const length = 1 + below(8);
  const out = bytes.slice();
  switch (below(5)) {
    case 0:
      out[at]! ^= 1 << below(8);
      return out;
    case 1:
      out[at] = [0x00, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff][below(8)]!;
      return out;
    case 2:
      return concat(bytes.subarray(0, at), bytes.subarray(at + length));
    case 3:
      return concat(bytes.subarray(0, at + length), bytes.subarray(at));
    default:
      return concat(bytes, new Uint8Array(length).fill(below(256)));
  }
}
