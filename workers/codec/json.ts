import { fromBase64Url, toBase64Url } from './base64url.ts';
import { type Guard, GuardFailure } from './guards.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Encodes a value as JSON, with byte arrays as base64url, which {@link bytes} decodes. */
export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(
    JSON.stringify(value, (_key, field: unknown) =>
      field instanceof Uint8Array ? toBase64Url(field) : field,
    ),
  );
}

/** Decodes JSON. @throws GuardFailure for anything that isn't JSON of that shape */
export function decodeJson<T>(encoded: Uint8Array, guard: Guard<T>): T {
  let text: string;
  try {
    text = decoder.decode(encoded);
  } catch {
    throw new GuardFailure('JSON');
  }
  return parseJson(text, guard);
}

/** Parses JSON. @throws GuardFailure for anything that isn't JSON of that shape */
export function parseJson<T>(text: string, guard: Guard<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new GuardFailure('JSON');
  }
  return guard(value);
}

/** Decodes bytes that are written as unpadded base64url. */
export function bytes(maxLength: number, minLength = 0): Guard<Uint8Array> {
  return (value) => {
    const decoded = typeof value === 'string' ? fromBase64Url(value) : null;
    if (decoded === null || decoded.length > maxLength || decoded.length < minLength) {
      throw new GuardFailure('base64url');
    }
    return decoded;
  };
}
