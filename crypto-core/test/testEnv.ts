import { createHash } from 'node:crypto';
import type { Env } from '../src/env.ts';

/** A deterministic Env: bytes from SHA-256 in counter mode over `seed`, and a clock that only the test moves. */
export function testEnv(
  seed: string,
  now = Date.UTC(2026, 0, 1),
): Env & { advance(milliseconds: number): void } {
  let counter = 0;
  let time = now;
  return {
    random(length) {
      const out = new Uint8Array(length);
      for (let offset = 0; offset < length; offset += 32) {
        const block = createHash('sha256').update(`${seed}/${counter++}`).digest();
        out.set(block.subarray(0, Math.min(32, length - offset)), offset);
      }
      return out;
    },
    now: () => time,
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}
