import wrappers from 'libsodium-wrappers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { EMPTY, equalBytes, octetAt, toHex, utf8 } from '../../src/bytes.ts';
import { hkdfExpand } from '../../src/suite/hkdf.ts';
import * as hpke from '../../src/suite/hpke.ts';
import { dhkemX25519, xwing } from '../../src/suite/kem.ts';
import { decryptWithLabel, encryptWithLabel, expandWithLabel } from '../../src/suite/labels.ts';
import * as sodium from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('suite');
const zeros = (length: number) => new Uint8Array(length);

beforeAll(sodium.ready);

describe('libsodium, behind its door', () => {
  it.each([
    ['Ed25519 seed', () => sodium.ed25519KeyPair(zeros(31))],
    ['Ed25519 private key', () => sodium.ed25519Sign(zeros(32), EMPTY)],
    ['X25519 private key', () => sodium.x25519(zeros(31), zeros(32))],
    ['X25519 public key', () => sodium.x25519(zeros(32), zeros(33))],
    ['X25519 private key for its public key', () => sodium.x25519Base(zeros(0))],
    ['X-Wing seed', () => sodium.xwingKeyPair(zeros(64))],
    ['X-Wing public key', () => sodium.xwingEncapsulate(zeros(1215), zeros(64))],
    ['X-Wing encapsulation seed', () => sodium.xwingEncapsulate(zeros(1216), zeros(63))],
    ['X-Wing private key', () => sodium.xwingDecapsulate(zeros(33), zeros(1120))],
    ['X-Wing ciphertext', () => sodium.xwingDecapsulate(zeros(32), zeros(1121))],
    ['AEAD key', () => sodium.chacha20Poly1305Seal(zeros(31), zeros(12), EMPTY, EMPTY)],
    ['AEAD nonce', () => sodium.chacha20Poly1305Open(zeros(32), zeros(24), EMPTY, zeros(16))],
    ['extended AEAD key', () => sodium.xchacha20Poly1305Open(zeros(33), zeros(24), EMPTY, zeros(16))],
    ['extended AEAD nonce', () => sodium.xchacha20Poly1305Seal(zeros(32), zeros(12), EMPTY, EMPTY)],
    ['BLAKE2b key', () => sodium.blake2bKeyed(zeros(31), EMPTY, 32)],
    ['Argon2id salt', () => sodium.argon2id(EMPTY, zeros(8), 1, 8192, 32)],
  ])('refuses a wrong length: %s', (_, call) => {
    expect(codeOf(call)).toBe('malformed');
  });

  it('verifies no signature when it or the key has a wrong length', () => {
    expect(sodium.ed25519Verify(zeros(31), EMPTY, zeros(64))).toBe(false);
    expect(sodium.ed25519Verify(zeros(32), EMPTY, zeros(63))).toBe(false);
  });

  it('computes the same for inputs of every length around that beyond which they go by the wrappers', () => {
    for (const length of [0, 1, 31, 64, 7983, 7984, 7999, 8000, 8001, 8016, 20_000]) {
      for (const aadLength of [0, 16]) {
        const [key, nonce, aad] = [env.random(32), env.random(12), env.random(aadLength)];
        const plaintext = env.random(length);
        const expected = wrappers.crypto_aead_chacha20poly1305_ietf_encrypt(plaintext, aad, null, nonce, key);
        const sealed = sodium.chacha20Poly1305Seal(key, nonce, aad, plaintext);
        expect(equalBytes(sealed, expected)).toBe(true);
        expect(equalBytes(sodium.chacha20Poly1305Open(key, nonce, aad, sealed), plaintext)).toBe(true);
        sealed[length] = octetAt(sealed, length) ^ 1;
        expect(codeOf(() => sodium.chacha20Poly1305Open(key, nonce, aad, sealed))).toBe('decrypt-failed');
        const mac = wrappers.crypto_auth_hmacsha256(plaintext, key);
        expect(sodium.hmacSha256(key, plaintext)).toEqual(mac);
      }
    }
  });

  it('leaves no key and no plaintext in the memory that calls share', () => {
    const { HEAPU8 } = (wrappers as unknown as { readonly libsodium: { readonly HEAPU8: Uint8Array } })
      .libsodium;
    const [key, plaintext] = [env.random(32), env.random(100)];
    const isThere = (bytes: Uint8Array): boolean => Buffer.from(HEAPU8.buffer).includes(Buffer.from(bytes));
    const sealed = sodium.chacha20Poly1305Seal(key, zeros(12), EMPTY, plaintext);
    expect([isThere(key), isThere(plaintext)]).toEqual([false, false]);
    sodium.chacha20Poly1305Open(key, zeros(12), EMPTY, sealed);
    expect([isThere(key), isThere(plaintext)]).toEqual([false, false]);
    sodium.hmacSha256(key, plaintext);
    expect([isThere(key), isThere(plaintext)]).toEqual([false, false]);
  });

  it('computes the same after its memory has grown', () => {
    const { libsodium } = wrappers as unknown as { readonly libsodium: { readonly HEAPU8: Uint8Array } };
    const [key, data] = [env.random(32), env.random(100)];
    const [mac, sealed] = [
      sodium.hmacSha256(key, data),
      sodium.chacha20Poly1305Seal(key, zeros(12), EMPTY, data),
    ];
    const before = libsodium.HEAPU8;
    sodium.argon2id(EMPTY, zeros(16), 1, before.length, 32);
    expect(libsodium.HEAPU8.length).toBeGreaterThan(before.length);
    expect(sodium.hmacSha256(key, data)).toEqual(mac);
    expect(sodium.chacha20Poly1305Seal(key, zeros(12), EMPTY, data)).toEqual(sealed);
    expect(sodium.chacha20Poly1305Open(key, zeros(12), EMPTY, sealed)).toEqual(data);
  });

  it('writes no further than the memory that it has asked for', async () => {
    const { libsodium } = wrappers as unknown as {
      readonly libsodium: Record<
        '_malloc' | '_crypto_aead_chacha20poly1305_ietf_encrypt',
        (...args: number[]) => number
      >;
    };
    vi.resetModules();
    const fresh = await import('../../src/suite/sodium.ts');
    const malloc = vi.spyOn(libsodium, '_malloc');
    const seal = vi.spyOn(libsodium, '_crypto_aead_chacha20poly1305_ietf_encrypt');
    try {
      for (const length of [7984, 8000, 16_384]) {
        fresh.chacha20Poly1305Seal(zeros(32), zeros(12), zeros(16), zeros(length));
      }
      const at = malloc.mock.results[0]?.value ?? 0;
      const end = at + (malloc.mock.calls[0]?.[0] ?? 0);
      const inPlace = seal.mock.calls.filter(([out = 0]) => out > at && out < end);
      expect(inPlace).toHaveLength(1);
      for (const [, , , , , aadAt = 0, aadLength = 0] of inPlace)
        expect(aadAt + aadLength).toBeLessThanOrEqual(end);
    } finally {
      malloc.mockRestore();
      seal.mockRestore();
    }
  });

  it('writes nowhere when it gets no memory', async () => {
    const { libsodium } = wrappers as unknown as { readonly libsodium: { _malloc(length: number): number } };
    vi.resetModules();
    const fresh = await import('../../src/suite/sodium.ts');
    const none = vi.spyOn(libsodium, '_malloc').mockReturnValue(0);
    try {
      expect(() => fresh.hmacSha256(zeros(32), EMPTY)).toThrow('unsupported');
    } finally {
      none.mockRestore();
    }
    expect(fresh.hmacSha256(zeros(32), EMPTY)).toEqual(sodium.hmacSha256(zeros(32), EMPTY));
  });

  it('refuses an AEAD ciphertext shorter than its tag', () => {
    for (let length = 0; length < 16; length++) {
      expect(codeOf(() => sodium.chacha20Poly1305Open(zeros(32), zeros(12), EMPTY, zeros(length)))).toBe(
        'decrypt-failed',
      );
    }
  });
});

describe('getSuite', () => {
  it.each([0x0001, 0x0002, 0x0004, 0x0000, 0xffff, -1, 3.5, Number.NaN])('refuses %s', (id) => {
    expect(codeOf(() => getSuite(id))).toBe('unsupported');
  });

  it('gives suites that differ in the KEM alone', () => {
    expect(getSuite(0x0003).kem).toBe(dhkemX25519);
    expect([getSuite(0x004d).kem, getSuite(0xf04d).kem]).toEqual([xwing, xwing]);
  });
});

describe.each([0x0003, 0x004d])('HPKE of suite %i', (id) => {
  const suite = getSuite(id);

  it('makes and reads encapsulations and keys of the sizes it states', () => {
    const { publicKey, privateKey } = suite.kem.generateKeyPair(env);
    const { enc, sharedSecret } = suite.kem.encap(publicKey, env);
    expect([publicKey.length, privateKey.length, enc.length, sharedSecret.length]).toEqual([
      suite.kem.Npk,
      suite.kem.Nsk,
      suite.kem.Nenc,
      suite.kem.Nsecret,
    ]);
    expect(toHex(suite.kem.decap(enc, privateKey))).toBe(toHex(sharedSecret));
    expect(toHex(suite.kem.publicKey(privateKey))).toBe(toHex(publicKey));
  });

  it('opens for the recipient, the info and the associated data it was sealed for', () => {
    const recipient = suite.kem.generateKeyPair(env);
    const sealed = hpke.seal(suite, recipient.publicKey, utf8('info'), utf8('aad'), utf8('text'), env);
    const open = (key: Uint8Array, info: string, aad: string, message = sealed) =>
      codeOf(() => hpke.open(suite, key, utf8(info), utf8(aad), message));
    expect(open(recipient.privateKey, 'info', 'aad')).toBe('none');
    expect(open(suite.kem.generateKeyPair(env).privateKey, 'info', 'aad')).toBe('decrypt-failed');
    expect(open(recipient.privateKey, 'other', 'aad')).toBe('decrypt-failed');
    expect(open(recipient.privateKey, 'info', 'other')).toBe('decrypt-failed');
    const { kemOutput, ciphertext } = sealed;
    expect(open(recipient.privateKey, 'info', 'aad', { kemOutput, ciphertext: ciphertext.subarray(1) })).toBe(
      'decrypt-failed',
    );
    expect(open(recipient.privateKey, 'info', 'aad', { kemOutput: kemOutput.subarray(1), ciphertext })).toBe(
      'malformed',
    );
    for (let at = 0; at < kemOutput.length; at += 37) {
      const altered = kemOutput.slice();
      altered[at]! ^= 1;
      expect(open(recipient.privateKey, 'info', 'aad', { kemOutput: altered, ciphertext })).toBe(
        'decrypt-failed',
      );
    }
  });

  it('never seals one message as another of its context', () => {
    const recipient = suite.kem.generateKeyPair(env);
    const { kemOutput, context } = hpke.setupBaseS(suite, recipient.publicKey, EMPTY, env);
    const messages = ['one', 'two', 'three'].map((text) => context.seal(EMPTY, utf8(text)));
    const receiver = hpke.setupBaseR(suite, kemOutput, recipient.privateKey, EMPTY);
    expect(codeOf(() => receiver.open(EMPTY, messages[1]!))).toBe('decrypt-failed');
    expect(messages.map((message) => toHex(receiver.open(EMPTY, message)))).toEqual(
      ['one', 'two', 'three'].map((text) => toHex(utf8(text))),
    );
  });

  it('opens nothing under another label', () => {
    const recipient = suite.kem.generateKeyPair(env);
    const sealed = encryptWithLabel(suite, recipient.publicKey, 'Welcome', EMPTY, utf8('text'), env);
    const open = (label: string) =>
      codeOf(() => decryptWithLabel(suite, recipient.privateKey, label, EMPTY, sealed));
    expect(open('Welcome')).toBe('none');
    expect(open('UpdatePathNode')).toBe('decrypt-failed');
  });
});

describe('DHKEM(X25519)', () => {
  it('refuses points of small order, from either side', () => {
    expect(codeOf(() => dhkemX25519.encap(zeros(32), env))).toBe('malformed');
    expect(codeOf(() => dhkemX25519.decap(zeros(32), dhkemX25519.generateKeyPair(env).privateKey))).toBe(
      'malformed',
    );
  });
});

describe('X-Wing', () => {
  it('refuses a public key whose ML-KEM half is not reduced', () => {
    const { publicKey } = xwing.generateKeyPair(env);
    const unreduced = publicKey.slice().fill(0xff, 0, 3);
    expect(codeOf(() => xwing.encap(unreduced, env))).toBe('malformed');
  });
});

describe('ExpandWithLabel', () => {
  const suite = getSuite(0x0003);
  const secret = zeros(32);

  it.each([1, 12, 31, 32, 33, 64, 255])(
    'gives %i bytes, and a different string for each length',
    (length) => {
      const out = expandWithLabel(suite, secret, 'label', utf8('context'), length);
      expect(out.length).toBe(length);
      const longer = expandWithLabel(suite, secret, 'label', utf8('context'), length + 1);
      expect(toHex(longer.subarray(0, length))).not.toBe(toHex(out));
    },
  );

  it('agrees with HKDF-Expand over the encoded label, the one-block path included', () => {
    // KDFLabel: uint16 length, "MLS 1.0 label" and "context" with their length octets.
    const info = (length: number) =>
      Uint8Array.of(length >> 8, length & 0xff, 13, ...utf8('MLS 1.0 label'), 7, ...utf8('context'));
    for (const length of [12, 32, 80]) {
      expect(toHex(expandWithLabel(suite, secret, 'label', utf8('context'), length))).toBe(
        toHex(hkdfExpand(secret, info(length), length)),
      );
    }
  });

  it('encodes contexts of every header size', () => {
    const outputs = [63, 64, 16383, 16384].map((size) =>
      toHex(expandWithLabel(suite, secret, 'label', zeros(size), 32)),
    );
    expect(new Set(outputs).size).toBe(4);
  });

  it('refuses lengths that HKDF can not give', () => {
    expect(codeOf(() => expandWithLabel(suite, secret, 'label', EMPTY, 255 * 32 + 1))).toBe('usage');
    expect(codeOf(() => expandWithLabel(suite, secret, 'label', EMPTY, 0x10000))).toBe('usage');
  });

  it('gives the same bytes when there are more labels than it remembers', () => {
    const once = (label: string) => toHex(expandWithLabel(suite, secret, label, EMPTY, 32));
    const labels = Array.from({ length: 100 }, (_, i) => `label ${i}`);
    const first = labels.map(once);
    expect(labels.map(once)).toEqual(first);
    expect(new Set(first).size).toBe(100);
  });
});
