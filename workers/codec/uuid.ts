import type { Env } from '@sinetti/crypto-core';

/** A version 4 UUID (RFC 9562 section 5.4). */
export function randomUuid(env: Env): string {
  const bytes = env.random(16).slice();
  bytes.set([((bytes[6] ?? 0) & 0x0f) | 0x40], 6);
  bytes.set([((bytes[8] ?? 0) & 0x3f) | 0x80], 8);
  return uuidFromBytes(bytes);
}

/** Writes the 16 bytes of a UUID as text. */
export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (octet) => octet.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Returns the 16 bytes of a UUID. */
export function uuidToBytes(uuid: string): Uint8Array {
  const hex = uuid.replaceAll('-', '');
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}
