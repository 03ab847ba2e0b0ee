/** Bodies whose byte strings are bytes beside their JSON: contract/primitives.ts. */
import { limits, type PartNames, putParts, takeParts } from '../../contract/index.ts';
import { ApiError } from '../errors.ts';
import { opaque, opaquesIn } from '../opaque.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads such a body; its byte strings become base64url, as the contract's schemas have them.
 * @throws ApiError malformed
 */
export function readParts(body: Buffer, names: PartNames): unknown {
  try {
    const [json, ...parts] = opaquesIn(body, 1 + limits.partsPerBody) ?? [];
    if (json === undefined || json.length > limits.partsJsonMax) throw new RangeError('JSON of no call');
    const texts = parts.map((part) => part.toString('base64url'));
    return putParts(utf8.decode(json), texts, names);
  } catch {
    throw new ApiError('malformed', 'The request body is not valid JSON with its parts.');
  }
}

/** Writes a value of the contract as such a body. */
export function writeParts(value: unknown, names: PartNames): Buffer {
  const { json, parts } = takeParts(value, names);
  return Buffer.concat(
    [json, ...parts].map((part, at) => opaque(Buffer.from(part, at === 0 ? 'utf8' : 'base64url'))),
  );
}
