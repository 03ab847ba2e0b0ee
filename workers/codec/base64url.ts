/**
 * Unpadded base64url (RFC 4648 section 5), in which bytes cross the worker's API and are written in JSON
 * records.
 */

/** Bytes as unpadded base64url. */
export type WireBytes = string;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Int8Array(128).fill(-1);
for (let value = 0; value < ALPHABET.length; value++) VALUES[ALPHABET.charCodeAt(value)] = value;

// Argument lists have a limit, so String.fromCharCode is called on pieces of this many characters (a multiple
// of 4).
const PIECE = 8192;

export function toBase64Url(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 4) / 3);
  const codes = new Uint8Array(length);
  let out = 0;
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      codes[out++] = ALPHABET.charCodeAt((held >> bits) & 63);
    }
    held &= (1 << bits) - 1;
  }
  if (bits > 0) codes[out++] = ALPHABET.charCodeAt((held << (6 - bits)) & 63);
  let text = '';
  for (let start = 0; start < out; start += PIECE) {
    text += String.fromCharCode(...codes.subarray(start, Math.min(start + PIECE, out)));
  }
  return text;
}

/** Decodes the bytes; null for anything but their one canonical encoding. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let out = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < text.length; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? -1;
    if (value < 0) return null;
    held = ((held << 6) | value) & 0xfff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[out++] = (held >> bits) & 0xff;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}
