import { CryptoError } from './errors.ts';

// The core compiles without the DOM library; these two exist in every JavaScript host it runs on.
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (
  label: 'utf-8',
  options: { fatal: boolean; ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const EMPTY: Uint8Array = new Uint8Array(0);

/** Puts byte strings one after the other, in an array of its own: RFC 9420 section 2.1 does so with encoded fields. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

/** Returns the octet at an index that is known to be inside. */
export function octetAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}

/**
 * Returns whether two byte strings are equal, in time that depends on their lengths only: epoch authenticators (RFC 9420
 * section 8.7), or references (section 5.2).
 */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= octetAt(a, i) ^ octetAt(b, i);
  return difference === 0;
}

/**
 * Overwrites secrets that are no longer needed (RFC 9420 section 9.2 has them deleted). Copies the engine made on the way are
 * beyond reach.
 */
export function wipe(...secrets: readonly Uint8Array[]): void {
  for (const secret of secrets) secret.fill(0);
}

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** @throws CryptoError 'malformed' when the bytes aren't UTF-8 */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new CryptoError('malformed', 'not UTF-8');
  }
}

/**
 * Writes lower-case hexadecimal, the form in which byte strings are keys of a Map: references (RFC 9420 section 5.2), and public
 * keys.
 */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte < 16 ? `0${byte.toString(16)}` : byte.toString(16);
  return text;
}
