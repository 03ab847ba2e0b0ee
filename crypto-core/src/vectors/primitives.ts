/** Published cases of what MLS is built of. Wycheproof's groups are taken apart: a case has what its group has. */
import { concat } from '../bytes.ts';
import type { Env } from '../env.ts';
import { hkdfExpand, hkdfExtract } from '../suite/hkdf.ts';
import { setupBaseR, setupBaseS } from '../suite/hpke.ts';
import { xwing } from '../suite/kem.ts';
import {
  chacha20Poly1305Open,
  chacha20Poly1305Seal,
  ed25519Verify,
  hmacSha256,
  x25519,
  xchacha20Poly1305Open,
  xchacha20Poly1305Seal,
} from '../suite/sodium.ts';
import { getSuite } from '../suite/suites.ts';
import { holds, refused, same, type VectorCase } from './vectorCase.ts';

const isValid = (vector: VectorCase) => vector.text('result') === 'valid';

/** RFC 7748. A shared secret of zeros alone has to be refused. */
export function x25519Case(vector: VectorCase): void {
  const compute = () => x25519(vector.bytes('private'), vector.bytes('public'));
  if (/^0+$/.test(vector.text('shared'))) refused('malformed', compute);
  else same(compute(), vector, 'shared');
}

/** RFC 8032. */
export function ed25519Case(vector: VectorCase): void {
  const verified = ed25519Verify(vector.bytes('pk'), vector.bytes('msg'), vector.bytes('sig'));
  holds(verified === isValid(vector), 'result');
}

/** RFC 8439, and the same with nonces of 24 bytes. */
export const chacha20Poly1305Case = aeadCase(chacha20Poly1305Seal, chacha20Poly1305Open, 12);
export const xchacha20Poly1305Case = aeadCase(xchacha20Poly1305Seal, xchacha20Poly1305Open, 24);

function aeadCase(seal: typeof chacha20Poly1305Seal, open: typeof seal, nonceLength: number) {
  return (vector: VectorCase): void => {
    const [key, nonce, aad] = [vector.bytes('key'), vector.bytes('iv'), vector.bytes('aad')];
    const sealed = concat(vector.bytes('ct'), vector.bytes('tag'));
    const opened = () => open(key, nonce, aad, sealed);
    if (nonce.length !== nonceLength) return refused('malformed', opened);
    if (!isValid(vector)) return refused('decrypt-failed', opened);
    same(opened(), vector, 'msg');
    const made = seal(key, nonce, aad, vector.bytes('msg'));
    same(made.subarray(0, -16), vector, 'ct');
    same(made.subarray(-16), vector, 'tag');
  };
}

/** RFC 2104. */
export function hmacCase(vector: VectorCase): void {
  const tag = hmacSha256(vector.bytes('key'), vector.bytes('msg')).subarray(0, vector.number('tagSize') / 8);
  if (isValid(vector)) same(tag, vector, 'tag');
  else refusedAs(tag, vector, 'tag');
}

/** RFC 5869. */
export function hkdfCase(vector: VectorCase): void {
  const derive = () =>
    hkdfExpand(
      hkdfExtract(vector.bytes('salt'), vector.bytes('ikm')),
      vector.bytes('info'),
      vector.number('size'),
    );
  if (isValid(vector)) same(derive(), vector, 'okm');
  else refused('usage', derive);
}

/** A value that somebody has altered must not come out. */
function refusedAs(bytes: Uint8Array, vector: VectorCase, field: string): void {
  const altered = vector.bytes(field);
  holds(bytes.length !== altered.length || bytes.some((octet, at) => octet !== altered[at]), field);
}

/** An Env whose only random bytes are the vector's own. */
const drawing = (vector: VectorCase, field: string): Env => ({
  random: () => vector.bytes(field),
  now: () => 0,
});

/** X-Wing: X25519 and ML-KEM-768 in one. */
export function xwingCase(vector: VectorCase): void {
  same(xwing.publicKey(vector.bytes('sk')), vector, 'pk');
  const { enc, sharedSecret } = xwing.encap(vector.bytes('pk'), drawing(vector, 'eseed'));
  same(enc, vector, 'ct');
  same(sharedSecret, vector, 'ss');
  same(xwing.decap(vector.bytes('ct'), vector.bytes('sk')), vector, 'ss');
}

/** RFC 9180 with X-Wing: the key pair, the shared secret, and what is sealed first. */
export function hpkeCase(vector: VectorCase): void {
  const recipient = xwing.deriveKeyPair(vector.bytes('ikmR'));
  same(recipient.privateKey, vector, 'skRm');
  same(recipient.publicKey, vector, 'pkRm');
  const { enc, sharedSecret } = xwing.encap(recipient.publicKey, drawing(vector, 'ikmE'));
  same(enc, vector, 'enc');
  same(sharedSecret, vector, 'shared_secret');
  const suite = getSuite(0x004d);
  // The other case has a KDF that no suite here has.
  if (vector.number('kdf_id') !== suite.kdf.id) return;
  const info = vector.bytes('info');
  const sender = setupBaseS(suite, recipient.publicKey, info, drawing(vector, 'ikmE'));
  const receiver = setupBaseR(suite, vector.bytes('enc'), recipient.privateKey, info);
  for (const sealed of vector.cases('encryptions').slice(0, 1)) {
    same(sender.context.seal(sealed.bytes('aad'), sealed.bytes('pt')), sealed, 'ct');
    same(receiver.open(sealed.bytes('aad'), sealed.bytes('ct')), sealed, 'pt');
  }
  for (const exported of vector.cases('exports')) {
    const secret = receiver.export(exported.bytes('exporter_context'), exported.number('L'));
    same(secret, exported, 'exported_value');
  }
}
