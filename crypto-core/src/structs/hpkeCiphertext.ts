import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import type { HpkeCiphertext } from '../suite/hpke.ts';

export type { HpkeCiphertext };

export function readHpkeCiphertext(r: Reader): HpkeCiphertext {
  return { kemOutput: r.opaque(), ciphertext: r.opaque() };
}

export function writeHpkeCiphertext(w: Writer, value: HpkeCiphertext): void {
  w.opaque(value.kemOutput);
  w.opaque(value.ciphertext);
}
