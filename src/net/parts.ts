/** Bodies whose byte strings are bytes beside their JSON: relay/contract/primitives.ts. */
import { bytesOf, textOf } from './base64url.ts';
import { type PartNames, putParts, takeParts, vectorHeader, vectorsIn } from './contract.ts';

/** Writes a value as a request's body. */
export async function writeParts(value: unknown, names: PartNames): Promise<Uint8Array<ArrayBuffer>> {
  const { json, parts } = takeParts(value, names);
  const vectors = [new TextEncoder().encode(json)];
  for (const part of parts) vectors.push(await bytesOf(part));
  return joined(vectors.flatMap((vector) => [vectorHeader(vector), vector]));
}

/** Reads such an answer, whose byte strings become base64url; undefined for what is none. */
export async function readParts(answer: Uint8Array, names: PartNames): Promise<unknown> {
  const [json, ...parts] = vectorsIn(answer, Infinity) ?? [];
  const texts: string[] = [];
  for (const part of parts) texts.push(await textOf(part));
  try {
    return putParts(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(json), texts, names);
  } catch {
    return undefined;
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
