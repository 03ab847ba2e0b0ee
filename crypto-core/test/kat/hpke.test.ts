import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import type { Env } from '../../src/env.ts';
import * as hpke from '../../src/suite/hpke.ts';
import { xwing } from '../../src/suite/kem.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { countLeftOut, fromHex, readVectors, report } from './vectors.ts';

interface XWingVector {
  seed: string;
  eseed: string;
  ss: string;
  sk: string;
  pk: string;
  ct: string;
}

interface HpkeVector
  extends Record<'info' | 'ikmE' | 'ikmR' | 'skRm' | 'pkRm' | 'enc' | 'shared_secret', string> {
  mode: number;
  kem_id: number;
  kdf_id: number;
  aead_id: number;
  encryptions: Record<'aad' | 'ct' | 'nonce' | 'pt', string>[];
  exports: { exporter_context: string; L: number; exported_value: string }[];
}

beforeAll(ready);

/** An Env whose only random bytes are the vector's own. */
function randomIs(hex: string): Env {
  return {
    random(length) {
      const bytes = fromHex(hex);
      expect(length).toBe(bytes.length);
      return bytes;
    },
    now: () => 0,
  };
}

describe('X-Wing', () => {
  const vectors = readVectors<XWingVector[]>('xwing/test-vectors.json');

  it('has vectors', () => {
    report('xwing', vectors.length, '');
    expect(vectors.length).toBeGreaterThan(0);
  });

  it.each(vectors)('encapsulates and decapsulates vector $#', (vector) => {
    expect(toHex(xwing.publicKey(fromHex(vector.sk)))).toBe(vector.pk);
    const { enc, sharedSecret } = xwing.encap(fromHex(vector.pk), randomIs(vector.eseed));
    expect(toHex(enc)).toBe(vector.ct);
    expect(toHex(sharedSecret)).toBe(vector.ss);
    expect(toHex(xwing.decap(fromHex(vector.ct), fromHex(vector.sk)))).toBe(vector.ss);
  });
});

describe('HPKE with X-Wing', () => {
  const suite = getSuite(0x004d);
  const path = 'hpke-pq/test-vectors.json';
  const ofKem = readVectors<HpkeVector[]>(path);
  const ofSuite = ofKem.filter(
    (vector) => vector.mode === 0 && vector.kdf_id === suite.kdf.id && vector.aead_id === suite.aead.id,
  );

  it('has vectors', () => {
    report('hpke-pq KEM', ofKem.length, `${countLeftOut(path, ofKem)} of other KEMs not carried`);
    report('hpke-pq contexts', ofSuite.length, `${ofKem.length - ofSuite.length} of another KDF`);
    expect(new Set(ofKem.map((vector) => vector.kem_id))).toEqual(new Set([suite.kem.id]));
    expect(ofSuite.length).toBeGreaterThan(0);
  });

  it.each(ofKem)('derives key pairs and shared secrets (KDF $kdf_id)', (vector) => {
    const recipient = xwing.deriveKeyPair(fromHex(vector.ikmR));
    expect(toHex(recipient.privateKey)).toBe(vector.skRm);
    expect(toHex(recipient.publicKey)).toBe(vector.pkRm);
    const { enc, sharedSecret } = xwing.encap(recipient.publicKey, randomIs(vector.ikmE));
    expect(toHex(enc)).toBe(vector.enc);
    expect(toHex(sharedSecret)).toBe(vector.shared_secret);
  });

  it.each(ofSuite)('seals, opens and exports in both directions', (vector) => {
    const info = fromHex(vector.info);
    const sender = hpke.setupBaseS(suite, fromHex(vector.pkRm), info, randomIs(vector.ikmE));
    const recipient = hpke.setupBaseR(suite, fromHex(vector.enc), fromHex(vector.skRm), info);
    expect(toHex(sender.kemOutput)).toBe(vector.enc);
    expect(vector.encryptions.length).toBeGreaterThan(1);
    // A refused message must not move the recipient's sequence number.
    expect(() => recipient.open(new Uint8Array(), new Uint8Array(20))).toThrow('decrypt-failed');
    const firstNonce = fromHex(vector.encryptions[0]!.nonce).at(-1)!;
    let sequence = 0;
    for (const { aad, ct, nonce, pt } of vector.encryptions) {
      // The published list skips numbers; the contexts are advanced to each.
      const wanted = fromHex(nonce).at(-1)! ^ firstNonce;
      const isLowByteOnly = fromHex(nonce).at(-2) === fromHex(vector.encryptions[0]!.nonce).at(-2);
      if (!isLowByteOnly) continue;
      for (; sequence < wanted; sequence++) {
        recipient.open(new Uint8Array(), sender.context.seal(new Uint8Array(), new Uint8Array()));
      }
      expect(toHex(sender.context.seal(fromHex(aad), fromHex(pt)))).toBe(ct);
      expect(toHex(recipient.open(fromHex(aad), fromHex(ct)))).toBe(pt);
      sequence++;
    }
    expect(vector.exports.length).toBeGreaterThan(0);
    for (const { exporter_context, L, exported_value } of vector.exports) {
      expect(toHex(sender.context.export(fromHex(exporter_context), L))).toBe(exported_value);
      expect(toHex(recipient.export(fromHex(exporter_context), L))).toBe(exported_value);
    }
  });
});
