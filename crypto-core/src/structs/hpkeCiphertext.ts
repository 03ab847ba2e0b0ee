import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';

/** RFC 9420, section 7.6. */
export interface HpkeCiphertext {
  readonly kemOutput: Uint8Array;
  readonly ciphertext: Uint8Array;
}

export function readHpkeCiphertext(r: Reader): HpkeCiphertext {
  return { kemOutput: r.opaque(), ciphertext: r.opaque() };
}

export function writeHpkeCiphertext(w: Writer, value: HpkeCiphertext): void {
  w.opaque(value.kemOutput);
  w.opaque(value.ciphertext);
}
