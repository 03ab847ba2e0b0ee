import type { Env } from '@sinetti/crypto-core';

// getRandomValues fills at most this many bytes a call.
const QUOTA = 65_536;

/** The browser's randomness and clock, the only impure source that crypto-core ever sees. */
export const browserEnv: Env = {
  random(length) {
    const bytes = new Uint8Array(length);
    for (let offset = 0; offset < length; offset += QUOTA) {
      crypto.getRandomValues(bytes.subarray(offset, Math.min(offset + QUOTA, length)));
    }
    return bytes;
  },
  now: () => Date.now(),
};
