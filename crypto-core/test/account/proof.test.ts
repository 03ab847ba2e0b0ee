import { beforeAll, describe, expect, it } from 'vitest';
import { signDeviceRevocation } from '../../src/account/deviceRevocation.ts';
import {
  hashProofBody,
  type ProofClaims,
  proofKeyOf,
  signProof,
  verifyProof,
} from '../../src/account/proof.ts';
import { toHex } from '../../src/bytes.ts';
import { ready } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('proof');
const seed = env.random(32);

beforeAll(ready);

const claimsOf = (change: Partial<ProofClaims> = {}): ProofClaims => ({
  operation: 'PUT /vault',
  bodyHash: hashProofBody('{"version":3}'),
  replaces: 3,
  session: '0f8fad5b-d9cb-469f-a165-70867728950e',
  nonce: new Uint8Array(32).fill(9),
  ...change,
});

describe('a proof', () => {
  it('holds for the operation that was signed', () => {
    const claims = claimsOf();
    expect(verifyProof(proofKeyOf(seed), claims, signProof(seed, claims))).toBe(true);
  });

  it.each([
    ['operation', { operation: 'DELETE /user' }],
    ['body', { bodyHash: hashProofBody('{"version":4}') }],
    ['vault version', { replaces: 4 }],
    ['session', { session: '0f8fad5b-d9cb-469f-a165-70867728950f' }],
    ['nonce', { nonce: new Uint8Array(32).fill(8) }],
  ])('is refused for another %s', (_name, change) => {
    expect(verifyProof(proofKeyOf(seed), claimsOf(change), signProof(seed, claimsOf()))).toBe(false);
  });

  it('is refused under another key', () => {
    expect(verifyProof(proofKeyOf(env.random(32)), claimsOf(), signProof(seed, claimsOf()))).toBe(false);
  });

  it('is refused with any flipped bit, cut or appended to', () => {
    const key = proofKeyOf(seed);
    const signature = signProof(seed, claimsOf());
    for (let bit = 0; bit < signature.length * 8; bit++) {
      const altered = signature.slice();
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(verifyProof(key, claimsOf(), altered)).toBe(false);
    }
    expect(verifyProof(key, claimsOf(), signature.subarray(0, 63))).toBe(false);
    expect(verifyProof(key, claimsOf(), Uint8Array.of(...signature, 0))).toBe(false);
  });

  it('is not a signature of the same key under another label', () => {
    const revocation = signDeviceRevocation(seed, { userId: 'anna', deviceId: 'phone' });
    expect(verifyProof(proofKeyOf(seed), claimsOf(), revocation.slice(-64))).toBe(false);
  });

  it.each([{ replaces: -1 }, { replaces: 1.5 }, { replaces: 2 ** 32 }, { bodyHash: new Uint8Array(31) }])(
    'is never signed for %o',
    (change) => {
      expect(codeOf(() => signProof(seed, claimsOf(change)))).toBe('usage');
    },
  );

  it('has the same bytes as ever, since relays verify them on their own', () => {
    expect(toHex(signProof(new Uint8Array(32).fill(7), claimsOf()))).toMatchInlineSnapshot(
      `"c452448d04de7b17faa3679eb149a0efa14cefa6709c2c6404555bf5712784596f8a9dd9e5fcb9ceddd00661d692c88c6be33ee3a2ab16e08bf62f9effdcac03"`,
    );
  });
});
