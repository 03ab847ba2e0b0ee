import type { Route } from './route.ts';

/** The fields of a call that travel as bytes, by name wherever they are: byte strings, null, or lists of byte strings. */
export type PartNames = NonNullable<Route['bodyParts']>;

/** Takes the byte strings out of a value, which has them as base64url. */
export function takeParts(value: unknown, names: PartNames): { json: string; parts: string[] } {
  const parts: string[] = [];
  const numberOf = (part: unknown) => (typeof part === 'string' ? parts.push(part) - 1 : part);
  const json = JSON.stringify(value, (name, field: unknown) => {
    if (!names.includes(name)) return field;
    return Array.isArray(field) ? field.map(numberOf) : numberOf(field);
  });
  return { json, parts };
}

/**
 * Puts byte strings back into their places.
 * @param parts base64url
 * @throws Error for a text that is no JSON, or doesn't name each part once and in order
 */
export function putParts(json: string, parts: readonly string[], names: PartNames): unknown {
  let next = 0;
  const partAt = (number: unknown) => {
    const part = parts[next];
    if (number !== next || part === undefined) throw new Error('not the number of the next part');
    next += 1;
    return part;
  };
  const value: unknown = JSON.parse(json, (name, field: unknown) => {
    if (!names.includes(name) || field === null) return field;
    return Array.isArray(field) ? field.map(partAt) : partAt(field);
  });
  if (next < parts.length) throw new Error('parts that nothing names');
  return value;
}
