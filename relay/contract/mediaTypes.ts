import { Bytes } from './primitives.ts';
import type { Route } from './route.ts';

export const jsonType = 'application/json';
/** The media type of {@link Bytes}. */
export const bytesType = 'application/octet-stream';

/**
 * The media type of a body whose byte strings are bytes beside its JSON:
 *
 * ```
 * struct {
 *   opaque json<V>;   // UTF-8; in the place of each byte string it has the number of its part
 *   opaque part<V>;   // as many as there are, numbered from 0 in the order in which the JSON names them
 *   ...
 * } Parts;
 * ```
 */
export const partsType = 'application/vnd.sinetti.parts';

/** The media type of what a call takes or answers. */
export function mediaTypeOf(schema: Route['body'], parts: Route['bodyParts']) {
  if (schema === Bytes) return bytesType;
  return parts === undefined ? jsonType : partsType;
}
