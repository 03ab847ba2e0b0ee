import { Failure } from './errors.ts';

/** The values that statements are made of: of numbers, whole ones that every reader counts alike. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * The one text of a value by RFC 8785: names in the order of their UTF-16 units, no spaces, numbers and strings as ECMAScript writes them.
 * @throws Failure `malformed` for a number that is no safe integer (section 3.2.2.3 allows more) and for half a surrogate pair
 */
export function canonicalText(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      throw new Failure('malformed', 'A statement holds whole numbers only.');
    }
    return String(value);
  }
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value))
      throw new Failure('malformed', 'A statement holds whole characters only.');
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalText(item)).join(',')}]`;
  const members = Object.entries(value as { readonly [name: string]: Json })
    // The default order is that of UTF-16 units (section 3.2.3).
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, item]) => `${canonicalText(name)}:${canonicalText(item)}`);
  return `{${members.join(',')}}`;
}

/** The bytes that are hashed and signed: the text in UTF-8 and nothing after it. */
export function canonicalBytes(value: Json): Uint8Array {
  return new TextEncoder().encode(canonicalText(value));
}

/**
 * Reads a statement, of which there is one form: what is written in another one was not what was signed.
 * @throws Failure `malformed`
 */
export function parseCanonical(bytes: Uint8Array): Json {
  let text: string;
  let value: Json;
  let written: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text) as Json;
    written = canonicalText(value);
  } catch (error) {
    if (error instanceof Failure) throw error;
    // A text of brackets alone is deeper than what writes it can go.
    throw new Failure('malformed', 'This is not JSON in UTF-8.');
  }
  if (written !== text) throw new Failure('malformed', 'This is not canonical JSON (RFC 8785).');
  return value;
}

/** SHA-256 in base64url without padding, as statements write it. */
export async function sha256(content: Uint8Array | string): Promise<string> {
  const hash = await digest(
    'SHA-256',
    typeof content === 'string' ? new TextEncoder().encode(content) : content,
  );
  return toBase64url(hash);
}

/** Hashes bytes by what browsers and Node.js both have. */
export async function digest(algorithm: 'SHA-256' | 'SHA-512', content: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest(algorithm, new Uint8Array(content)));
}

/** Returns few bytes in base64url, without padding. */
export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Returns few bytes in base64, with padding. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
