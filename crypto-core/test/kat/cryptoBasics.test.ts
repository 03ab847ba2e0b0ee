import { beforeAll, describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../src/bytes.ts';
import {
  decryptWithLabel,
  deriveSecret,
  deriveTreeSecret,
  encryptWithLabel,
  expandWithLabel,
  refHash,
  signWithLabel,
  verifyWithLabel,
} from '../../src/suite/labels.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { testEnv } from '../testEnv.ts';
import { fromHex, mlsVectors } from './vectors.ts';

interface Vector {
  cipher_suite: number;
  ref_hash: { label: string; value: string; out: string };
  expand_with_label: { secret: string; label: string; context: string; length: number; out: string };
  derive_secret: { secret: string; label: string; out: string };
  derive_tree_secret: { secret: string; label: string; generation: number; length: number; out: string };
  sign_with_label: { priv: string; pub: string; content: string; label: string; signature: string };
  encrypt_with_label: Record<
    'priv' | 'pub' | 'label' | 'context' | 'plaintext' | 'kem_output' | 'ciphertext',
    string
  >;
}

beforeAll(ready);

describe.each(mlsVectors<Vector>('crypto-basics'))('crypto-basics, suite $cipher_suite', (vector) => {
  const suite = getSuite(vector.cipher_suite);

  it('computes the published RefHash', () => {
    const { label, value, out } = vector.ref_hash;
    expect(toHex(refHash(suite, label, fromHex(value)))).toBe(out);
  });

  it('computes the published ExpandWithLabel', () => {
    const { secret, label, context, length, out } = vector.expand_with_label;
    expect(toHex(expandWithLabel(suite, fromHex(secret), label, fromHex(context), length))).toBe(out);
  });

  it('computes the published DeriveSecret', () => {
    const { secret, label, out } = vector.derive_secret;
    expect(toHex(deriveSecret(suite, fromHex(secret), label))).toBe(out);
  });

  it('computes the published DeriveTreeSecret', () => {
    const { secret, label, generation, length, out } = vector.derive_tree_secret;
    expect(toHex(deriveTreeSecret(suite, fromHex(secret), label, generation, length))).toBe(out);
  });

  it('makes and verifies the published SignWithLabel', () => {
    const { priv, pub, content, label, signature } = vector.sign_with_label;
    expect(toHex(suite.signatureKeyPair(fromHex(priv)).publicKey)).toBe(pub);
    // Ed25519 is deterministic, so the very signature must come out, which is more than the format asks for.
    expect(toHex(signWithLabel(suite, fromHex(priv), label, fromHex(content)))).toBe(signature);
    expect(verifyWithLabel(suite, fromHex(pub), label, fromHex(content), fromHex(signature))).toBe(true);
    expect(verifyWithLabel(suite, fromHex(pub), `${label}x`, fromHex(content), fromHex(signature))).toBe(
      false,
    );
  });

  it('opens the published EncryptWithLabel, and its own', () => {
    const { priv, pub, label, context, plaintext, kem_output, ciphertext } = vector.encrypt_with_label;
    const published = { kemOutput: fromHex(kem_output), ciphertext: fromHex(ciphertext) };
    expect(toHex(decryptWithLabel(suite, fromHex(priv), label, fromHex(context), published))).toBe(plaintext);
    const ours = encryptWithLabel(
      suite,
      fromHex(pub),
      label,
      fromHex(context),
      fromHex(plaintext),
      testEnv('hpke'),
    );
    expect(toHex(decryptWithLabel(suite, fromHex(priv), label, fromHex(context), ours))).toBe(plaintext);
    expect(() => decryptWithLabel(suite, fromHex(priv), label, utf8('other'), ours)).toThrow(
      'decrypt-failed',
    );
  });
});

describe('the expanded signature key', () => {
  it('never outlives a change of its seed', () => {
    const suite = getSuite(0x0003);
    const seed = new Uint8Array(32).fill(1);
    const before = suite.sign(seed, utf8('m'));
    seed.fill(2);
    const after = suite.sign(seed, utf8('m'));
    expect(
      suite.verify(suite.signatureKeyPair(new Uint8Array(32).fill(1)).publicKey, utf8('m'), before),
    ).toBe(true);
    expect(suite.verify(suite.signatureKeyPair(new Uint8Array(32).fill(2)).publicKey, utf8('m'), after)).toBe(
      true,
    );
  });
});
