import { encode } from '../codec/writer.ts';
import { type PreSharedKeyId, writePreSharedKeyId } from '../structs/psk.ts';
import { expandWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';

export interface PreSharedKey {
  readonly id: PreSharedKeyId;
  readonly secret: Uint8Array;
}

/** Derives the psk_secret of RFC 9420 section 8.4: the keys chained in the order given; all zero for none. */
export function derivePskSecret(suite: CipherSuite, psks: readonly PreSharedKey[]): Uint8Array {
  const zero = new Uint8Array(suite.kdf.Nh);
  let pskSecret: Uint8Array = zero;
  psks.forEach(({ id, secret }, index) => {
    const label = encode(id, (writer, value) => {
      writePreSharedKeyId(writer, value);
      writer.u16(index);
      writer.u16(psks.length);
    });
    const extracted = suite.kdf.extract(zero, secret);
    const input = expandWithLabel(suite, extracted, 'derived psk', label, suite.kdf.Nh);
    pskSecret = suite.kdf.extract(input, pskSecret);
  });
  return pskSecret;
}
