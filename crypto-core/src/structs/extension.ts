import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';

/** RFC 9420 section 17.3; `appDataDictionary` and `lastResort` are of draft-ietf-mls-extensions, the latter of older ones. */
export const ExtensionTypeValue = {
  applicationId: 0x0001,
  ratchetTree: 0x0002,
  requiredCapabilities: 0x0003,
  externalPub: 0x0004,
  externalSenders: 0x0005,
  appDataDictionary: 0x0006,
  lastResort: 0x000a,
} as const;

/** RFC 9420 section 7.2. The data stays opaque here: an unknown extension is carried, not refused. */
export interface Extension {
  readonly type: number;
  readonly data: Uint8Array;
}

export function readExtension(r: Reader): Extension {
  return { type: r.u16(), data: r.opaque() };
}

export function writeExtension(w: Writer, extension: Extension): void {
  w.u16(extension.type);
  w.opaque(extension.data);
}

/**
 * STRUCT-01 (section 13.4): no type occurs twice in a list.
 * @throws CryptoError 'malformed'
 */
export function readExtensions(r: Reader): readonly Extension[] {
  const extensions = r.vector('extensions', readExtension);
  const types = extensions.map(({ type }) => type);
  for (const [at, type] of types.entries()) {
    // Lists are short, and there may be thousands of them, so that a set for each would cost more.
    if (types.indexOf(type) !== at)
      throw new CryptoError('malformed', `STRUCT-01: extension ${type} occurs twice`);
  }
  return extensions;
}

export function writeExtensions(w: Writer, extensions: readonly Extension[]): void {
  w.vector(extensions, writeExtension);
}

export function findExtension(extensions: readonly Extension[], type: number): Uint8Array | undefined {
  return extensions.find((extension) => extension.type === type)?.data;
}
