import type { Env } from '@sinetti/crypto-core';

/** A version 4 UUID (RFC 9562 section 5.4). */
export function randomUuid(env: Env): string {
  const hex = Array.from(env.random(16), (byte, i) => {
    const value = i === 6 ? (byte & 0x0f) | 0x40 : i === 8 ? (byte & 0x3f) | 0x80 : byte;
    return value.toString(16).padStart(2, '0');
  }).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
