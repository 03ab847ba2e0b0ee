import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';

/** ProtocolVersion `mls10` (RFC 9420 section 6), the only one there is. */
export const MLS10 = 1;

/** @throws CryptoError 'unsupported' for any other version: nothing after it can be decoded safely. */
export function readMls10(r: Reader): void {
  const version = r.u16();
  if (version !== MLS10) throw new CryptoError('unsupported', `protocol version ${version}`);
}

export function writeMls10(w: Writer): void {
  w.u16(MLS10);
}
